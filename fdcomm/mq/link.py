"""The sockets of a queue behind calls that never block: a producer's connections, and the consumer's socket.

A producer's connection is used once: it does not come back by itself, and when it has broken its socket is closed with
everything that was still in it. That is why what the consumer reads of a connection never has a hole.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import stat
import time
from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol

import zmq
from zmq.utils.monitor import parse_monitor_message

from fdcomm.errors import AddressInUseError, UnsafeConfigError
from fdcomm.forksafety import close_in_child, no_fork
from fdcomm.mq.config import Config, Endpoint
from fdcomm.rendezvous import is_loopback
from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.context import context
from fdcomm.zsocket.curve import client_options, server_options
from fdcomm.zsocket.port import ZmqPort

__all__ = ("Bell", "Line", "Link", "ZmqLine", "ZmqLink", "bind", "secure", "url", "wait_for")

_UP: Final = zmq.EVENT_HANDSHAKE_SUCCEEDED
_DOWN: Final = (
    zmq.EVENT_DISCONNECTED
    | zmq.EVENT_CLOSED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)
_BEAT_MS: Final = 1000
_SILENT_MS: Final = 5000
# Not -1: with it ZeroMQ drops acknowledgements that have come and were not read when the connection breaks.
_NEVER_MS: Final = 1_000_000_000
_FREED_S: Final = 1.0

State = Literal["opening", "up", "down"]

_names = itertools.count()


class Link(Protocol):
    """One connection. All calls are made under its owner's lock."""

    def state(self) -> State:
        """Say how it is: "opening", then "up", then "down"; or "down" at once."""

    def send(self, parts: Sequence[Buffer]) -> None:
        """Send one message whole. There is always room: the window bounds what is under way."""

    def hear(self) -> int:
        """Return the next acknowledgement that has come; 0: there is none."""

    def close(self, linger_s: float) -> None:
        """Close; what was sent may still go out for so long."""


class Line(Protocol):
    """Opens connections, and waits."""

    def open(self, peer: bytes) -> Link | None:
        """Begin to connect; None: nobody is there."""

    def wait(self, link: Link | None, seconds: float | None) -> None:
        """Return when the connection's state may have changed, an acknowledgement may have come, at a ring, or after
        so many seconds. Without the lock, by one thread at a time."""

    def ring(self) -> None:
        """End the wait, or the next one."""

    def close(self) -> None:
        """Let go of everything but the connections."""


class Bell:
    """What ends a wait of another thread."""

    def __init__(self) -> None:
        self._ends: tuple[int, ...] = os.pipe()
        for end in self._ends:
            os.set_blocking(end, False)
        close_in_child(self)

    @property
    def fd(self) -> int:
        """What becomes readable; -1 once it is closed."""
        return self._ends[0] if self._ends else -1

    def ring(self) -> None:
        """Ring until it is silenced."""
        if self._ends:
            with contextlib.suppress(BlockingIOError):  # it is full, so it rings
                os.write(self._ends[1], b"\0")

    def silence(self) -> None:
        """Be ready for the next ring."""
        if self._ends:
            with contextlib.suppress(BlockingIOError):
                os.read(self._ends[0], 4096)

    def close(self) -> None:
        """Close it. Nobody may be waiting."""
        ends, self._ends = self._ends, ()
        for end in ends:
            os.close(end)

    def after_fork_in_child(self) -> None:
        """The child's copy is of no use."""
        self.close()


def wait_for(fds: Sequence[int], seconds: float | None) -> None:
    """Wait until one of them is readable."""
    poll = select.poll()
    for fd in fds:
        if fd >= 0:
            poll.register(fd, select.POLLIN)
    poll.poll(None if seconds is None else max(0.0, seconds) * 1000)


def url(endpoint: Endpoint) -> str:
    """Return the endpoint as ZeroMQ wants it."""
    return f"{endpoint.protocol}://{endpoint.address}"


def bind(port: ZmqPort, endpoint: Endpoint) -> str:
    """Bind, and let nobody but this user connect to a path.

    Raises:
        AddressInUseError: Somebody else has the endpoint, or this machine has no such address.
    """
    end = time.monotonic() + _FREED_S
    while True:
        try:
            with no_fork():
                bound = port.bind(url(endpoint))
                if endpoint.protocol == "ipc":
                    os.chmod(endpoint.address, 0o600)
            return bound
        except zmq.ZMQError as error:
            # What this process has just closed is let go of by ZeroMQ's own thread.
            if error.errno != zmq.EADDRINUSE or time.monotonic() >= end:
                raise AddressInUseError(f"{url(endpoint)} cannot be served: {error.strerror}") from error
        time.sleep(0.005)


def private(path: str) -> None:
    """Make the directory of a socket, if it is not there.

    Raises:
        UnsafeConfigError: It belongs to somebody else, or others may enter it.
    """
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    status = os.lstat(directory)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise UnsafeConfigError(
            f"{directory} must be a directory of uid {os.getuid()} with mode 0700, because who can connect to a socket "
            "in it is trusted; correct that, or take another ipc_root"
        )


def secure(endpoint: Endpoint, *, binds: bool) -> dict[str, Any]:
    """Return the options that keep strangers out.

    Raises:
        UnsafeConfigError: The endpoint is reachable from other machines and has no keys, or its directory by others.
    """
    if endpoint.protocol == "ipc":
        private(endpoint.address)
        return {}
    host = endpoint.address.rpartition(":")[0].strip("[]")
    curve = endpoint.curve
    beats = {"heartbeat_ivl": _BEAT_MS, "heartbeat_timeout": _SILENT_MS}
    if curve is None:
        if not is_loopback(host):
            raise UnsafeConfigError(
                f"{url(endpoint)} can be reached from other machines: give both ends CURVE keys (Endpoint.curve), or "
                "take a loopback address"
            )
        return beats
    return {**beats, **(server_options(curve) if binds else client_options(curve))}


class ZmqLink:
    """A connection that is a ZeroMQ socket."""

    def __init__(self, endpoint: Endpoint, config: Config, peer: bytes) -> None:
        options = {
            "routing_id": peer,
            "reconnect_ivl": _NEVER_MS,
            "sndhwm": 0,
            "rcvhwm": 0,
            "sndbuf": config.socket_config.sndbuf,
            **secure(endpoint, binds=False),
        }
        self._port = ZmqPort(zmq.DEALER, linger_s=0.0, options=options)
        self._state: State = "opening"
        self._closed = False
        # A name of its own: ZeroMQ lets go of that of a link that was closed in its own time.
        where = f"inproc://fdcomm-mq-{next(_names)}-{peer.hex()}"
        self._port.socket.monitor(where, _UP | _DOWN)
        self._monitor: Any = context().socket(zmq.PAIR)
        self._monitor.linger = 0
        self._monitor.connect(where)
        own: Any = self._port.socket.getsockopt(zmq.FD)
        monitor: Any = self._monitor.getsockopt(zmq.FD)
        self.fds: tuple[int, ...] = (monitor, own)
        close_in_child(self)
        self._port.connect(url(endpoint))

    def state(self) -> State:
        """Take in what the monitor tells."""
        while self._state != "down":
            try:
                event = parse_monitor_message(self._monitor.recv_multipart(zmq.NOBLOCK))["event"]
            except zmq.Again:
                break
            self._state = "up" if event == _UP and self._state == "opening" else "down"
        return self._state

    def send(self, parts: Sequence[Buffer]) -> None:
        """Send one message whole."""
        self._port.send(parts)

    def hear(self) -> int:
        """Return the next acknowledgement."""
        try:
            told = self._port.socket.recv(zmq.NOBLOCK)
        except zmq.Again:
            return 0
        return int.from_bytes(told, "little")

    def close(self, linger_s: float) -> None:
        """Close the socket and its monitor. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._port.socket.linger = round(1000 * linger_s)
        with contextlib.suppress(zmq.ZMQError):
            self._port.socket.disable_monitor()
        self._monitor.close()
        self._port.close()

    def after_fork_in_child(self) -> None:
        """The port closes its own copies; there is nothing else that peers can see."""
        self._port.after_fork_in_child()


class ZmqLine:
    """Opens ZeroMQ connections to one endpoint."""

    def __init__(self, endpoint: Endpoint, config: Config) -> None:
        self.endpoint = endpoint
        self._config = config
        self._bell = Bell()
        secure(endpoint, binds=False)

    def open(self, peer: bytes) -> Link | None:
        """Begin to connect, if there is a socket."""
        if self.endpoint.protocol == "ipc" and not os.path.exists(self.endpoint.address):
            return None
        return ZmqLink(self.endpoint, self._config, peer)

    def wait(self, link: Link | None, seconds: float | None) -> None:
        """Wait."""
        wait_for((self._bell.fd, *(link.fds if isinstance(link, ZmqLink) else ())), seconds)
        self._bell.silence()

    def ring(self) -> None:
        """End the wait."""
        self._bell.ring()

    def close(self) -> None:
        """Close the bell."""
        self._bell.close()
