"""Where a socket of this machine is, and who may bind it: one live owner, found by a lock that dies with it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import socket
import sys
import time
from typing import Final

from fdcomm.errors import AddressInUseError, ConfigError
from fdcomm.forksafety import close_in_child, no_fork
from fdcomm.rendezvous import runtime_dir

__all__ = ("LONGEST", "Claim", "socket_file")

LONGEST: Final = 107 if sys.platform.startswith("linux") else 103
"""Bytes that the path of a socket may have on this platform."""

# Who looks whether a server lives, or removes what one left, holds the lock for a moment.
_PATIENCE_S: Final = 0.2

# Clients that may connect at the same moment; the others try again.
_BACKLOG: Final = 1024


def socket_file(name: str, directory: str | None = None) -> str:
    """Return the path of a socket.

    A path that is too long for the platform gets a short name, which is a digest of the long one: both ends derive
    the same.

    Args:
        name: Name of the file, for example ``9923.socket``.
        directory: Where it is; None is :func:`fdcomm.rendezvous.runtime_dir`.

    Raises:
        ConfigError: No file can have the name, or even the short name is too long in this directory.
    """
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise ConfigError(f"{name!r} cannot be the name of a socket: it must be one file name")
    directory = os.path.abspath(directory) if directory is not None else runtime_dir()
    path = os.path.join(directory, name)
    if len(os.fsencode(path)) <= LONGEST:
        return path
    short = os.path.join(directory, "z-" + hashlib.sha256(os.fsencode(name)).hexdigest()[:32])
    if len(os.fsencode(short)) > LONGEST:
        raise ConfigError(
            f"the directory {directory} is too long for sockets: a path may have {LONGEST} bytes on this platform, and "
            "36 are needed for the name; set FDCOMM_RUNTIME_DIR to a shorter one"
        )
    return short


class Claim:
    """The right to bind a path, for as long as this process lives.

    The kernel drops the lock with the process, so whether the owner lives never depends on a process id.
    """

    def __init__(self, path: str) -> None:
        """Claim the path, and remove what a killed owner has left there.

        Raises:
            AddressInUseError: A live server has it.
        """
        self.path = path
        self._lock = path + ".lock"
        self._fd = -1
        end = time.monotonic() + _PATIENCE_S
        while not self._try():
            if time.monotonic() >= end:
                raise AddressInUseError(
                    f"{path} is served by another live process, or by another socket of this one; stop that one, or "
                    "take another name"
                )
            time.sleep(0.005)
        close_in_child(self)
        try:
            self._remove_stale()
        except BaseException:
            self.release()
            raise

    def _try(self) -> bool:
        with no_fork():  # a child would hold a copy of the lock
            fd = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Its last holder may have removed the file between our open and our lock: a lock on nothing.
                same = os.path.samestat(os.fstat(fd), os.stat(self._lock))
            except (BlockingIOError, FileNotFoundError):
                same = False
            if same:
                self._fd = fd
            else:
                os.close(fd)
            return same

    def _remove_stale(self) -> None:
        """Other software has no lock: whether it lives is asked by connecting."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            answer = probe.connect_ex(self.path)
        if answer == errno.ENOENT:
            return
        if answer != errno.ECONNREFUSED:
            raise AddressInUseError(
                f"{self.path} is served by something that is not fdcomm ({os.strerror(answer)}); stop it, or take "
                "another name"
            )
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def listen(self) -> int:
        """Return a descriptor that listens on the path (0600), for ZeroMQ's option ``use_fd``.

        A socket that ZeroMQ makes itself is removed by a thread of its own some time after its close, and then it may
        be the next owner's.
        """
        with no_fork(), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(self.path)
            os.chmod(self.path, 0o600)
            listening.listen(_BACKLOG)
            listening.setblocking(False)
            return listening.detach()

    def release(self) -> None:
        """Remove the socket and the lock. Idempotent."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        for path in (self.path, self._lock):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        os.close(fd)

    def after_fork_in_child(self) -> None:
        """The parent's claim ends with the parent."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
