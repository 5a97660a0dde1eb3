"""How a client finds a host: from an address as FastDeploy's callers write it to a socket, a key and an instance.

A host leaves a record in a directory that only its user may enter (0700), one per port. The record (0600) says where
the AF_UNIX socket is and holds the random key. The host keeps a lock (flock) on a file beside it for as long as it
lives; the kernel drops the lock with the process, so "is the host alive" never depends on a process id.

``("0.0.0.0", port)``, ``("127.0.0.1", port)`` and an address of one of this machine's interfaces all lead to the
record of ``port``: what counts is what the client can reach, not how the address is spelt.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import ipaddress
import json
import os
import socket
import stat
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from fdcomm.errors import AddressInUseError, ConfigError, HostNotFoundError, UnsafeConfigError
from fdcomm.forksafety import no_fork

__all__ = (
    "WELL_KNOWN_KEYS",
    "Record",
    "RecordLock",
    "find",
    "is_locked",
    "is_loopback",
    "is_this_machine",
    "runtime_dir",
    "socket_path",
)

WELL_KNOWN_KEYS: Final = frozenset({b"", b"secret_key", b"cache_queue_service"})
"""Keys that are printed in public source code. They mean "no key was chosen"."""

# sun_path holds 108 bytes on Linux and 104 on macOS, with the closing zero.
_SOCKET_PATH_MAX: Final = 107 if sys.platform.startswith("linux") else 103

# A client that looks whether a host lives, and an owner that removes what a killed host left, hold the lock for a
# moment. They are not hosts.
_LOCK_PATIENCE_S: Final = 0.2


@dataclass(frozen=True)
class Record:
    """What a host says about itself to clients on its machine. ``key`` is "" when the user chose one.

    ``link`` is ZeroMQ's name of its door for other machines, and ``link_keys`` are the keys for clients that it
    made, with blanks between them.
    """

    port: int
    instance: int
    socket: str
    words: str
    tcp_host: str
    tcp_port: int
    key: str
    pid: int
    owner_pid: int
    link: str = ""
    link_keys: str = ""


def runtime_dir() -> str:
    """Return the directory of records and sockets, made if it is not there.

    ``FDCOMM_RUNTIME_DIR``, else ``/tmp/fdcomm-<uid>``: not ``TMPDIR`` or ``XDG_RUNTIME_DIR``, which differ between
    the processes of one engine when they are started in different ways.

    Raises:
        UnsafeConfigError: The directory belongs to somebody else, or others may enter it.
    """
    path = os.path.abspath(os.environ.get("FDCOMM_RUNTIME_DIR") or f"/tmp/fdcomm-{os.getuid()}")
    try:
        with contextlib.suppress(FileExistsError):  # what it is instead of a directory is said below
            os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.lstat(path)
    except OSError as error:
        raise UnsafeConfigError(
            f"cannot make the directory {path}: {error.strerror}; set FDCOMM_RUNTIME_DIR to a directory of this user "
            "(the same for every process)"
        ) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise UnsafeConfigError(
            f"{path} must be a directory of uid {os.getuid()} with mode 0700, because keys are handed over in it; "
            "correct that, or set FDCOMM_RUNTIME_DIR to another one (the same for every process)"
        )
    return path


def socket_path(directory: str, name: str) -> str:
    """Return the path of a socket in the directory.

    Raises:
        ConfigError: The path is too long for the platform.
    """
    path = os.path.join(directory, name)
    if len(os.fsencode(path)) > _SOCKET_PATH_MAX:
        raise ConfigError(
            f"the socket path {path} has {len(os.fsencode(path))} bytes and this platform allows {_SOCKET_PATH_MAX}; "
            "set FDCOMM_RUNTIME_DIR to a shorter directory"
        )
    return path


class RecordLock:
    """The claim on a port's record. Held for the life of the host."""

    def __init__(self, port: int) -> None:
        """Claim the port for this user.

        Raises:
            AddressInUseError: A live host has it.
        """
        self.port = port
        end = time.monotonic() + _LOCK_PATIENCE_S
        directory = runtime_dir()
        self._record = os.path.join(directory, f"port-{port}.json")
        self._lock = os.path.join(directory, f"port-{port}.lock")
        while True:
            self._fd = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._fd)
                if time.monotonic() < end:
                    time.sleep(0.005)
                    continue
                raise AddressInUseError(
                    f"port {port}: another fdcomm host of this user serves it ({_who(self._record)}); "
                    "stop that one, or take another port (0 lets the system choose)"
                ) from None
            # Its last holder may have removed the file between our open and our lock: then we hold a lock on nothing.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._fd), os.stat(self._lock)):
                    break
            os.close(self._fd)
        stale = _read(self._record)
        if stale is not None:  # its host was killed: nobody can use these any more, nor may anybody find them
            for path in (self._record, stale.socket, stale.words, *glob.glob(f"{glob.escape(stale.words)}.*")):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)

    def publish(self, record: Record) -> None:
        """Write the record; clients see all of it or nothing."""
        temporary = f"{self._record}.{os.getpid()}"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w") as file:
            json.dump(asdict(record), file)
        os.replace(temporary, self._record)

    def release(self) -> None:
        """Remove record and lock file. Idempotent."""
        if self._fd < 0:
            return
        for path in (self._record, self._lock):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        os.close(self._fd)
        self._fd = -1


def find(port: int, wait_s: float, sleep: Callable[[float], None] = time.sleep) -> Record:
    """Return the record of the live host that serves ``port`` on this machine, for this user.

    Args:
        port: The port that the server was given, or chose.
        wait_s: Seconds to wait for a host that is not there yet; 0 answers at once.
        sleep: How to wait between looks.

    Raises:
        HostNotFoundError: There is none.
    """
    end = time.monotonic() + wait_s
    while True:
        directory = runtime_dir()
        record = _read(os.path.join(directory, f"port-{port}.json"))
        if record is not None and is_locked(os.path.join(directory, f"port-{port}.lock")):
            return record
        if time.monotonic() >= end:
            ended = " (the one that did has ended)" if record is not None else ""
            raise HostNotFoundError(
                f"no fdcomm host serves port {port} on this machine for uid {os.getuid()}{ended}; start the server "
                "first, or pass connect_timeout= to wait for it. Records are looked up in " + directory
            )
        sleep(0.02)


def is_loopback(host: str) -> bool:
    """Return True for an address of the loopback interface. A name is none, whatever it looks like."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_this_machine(host: str) -> bool:
    """Return True when the host name or address is this machine's own."""
    if host in ("", "0.0.0.0", "::", "localhost", "::1") or is_loopback(host):
        return True
    try:
        infos = socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)
    except OSError as error:
        raise ConfigError(f"cannot resolve the address {host!r}: {error}") from error
    for family, kind, protocol, _, address in infos:
        with socket.socket(family, kind, protocol) as probe:
            try:
                probe.bind((address[0], 0))
            except OSError:
                continue
            return True
    return False


def _read(path: str) -> Record | None:
    try:
        with open(path, encoding="utf-8") as file:
            return Record(**json.load(file))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def is_locked(path: str) -> bool:
    """Return True while some process has the file locked for itself. False: it is not there, too."""
    with no_fork():  # a child would hold a copy of the lock
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False


def _who(record_path: str) -> str:
    record = _read(record_path)
    return f"pid {record.pid}, started by pid {record.owner_pid}" if record else "it is just starting"
