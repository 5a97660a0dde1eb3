"""One ZeroMQ socket behind calls that never block, and a wait that a second thread can end."""

from __future__ import annotations

import collections
import os
import select
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol

import zmq
import zmq.backend

from fdcomm.errors import UndeliverableError
from fdcomm.forksafety import no_fork
from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.context import context
from fdcomm.zsocket.descriptors import close_of

__all__ = ("READ", "WRITE", "Port", "ZmqPort")

READ: Final = 1
WRITE: Final = 2

# A router does not tell when a full peer has room again: who waits for it looks.
_LOOK_S: Final = 0.001

# From here on a part is handed over without being copied (copying is cheaper for less).
_SHARE_FROM: Final = 65_536

# So many messages were there at once: the next one is probably there, too.
_SURE: Final = 8

# As numbers: zmq's flags are slow to combine.
_NOBLOCK: Final = int(zmq.NOBLOCK)
_MORE: Final = int(zmq.SNDMORE)
_POLLIN: Final = int(zmq.POLLIN)
_POLLOUT: Final = int(zmq.POLLOUT)


class Port(Protocol):
    """What :class:`fdcomm.zsocket.locked.LockedSocket` needs. All calls but ``wait`` are made under its lock.

    Attributes:
        linger_s: Seconds that what is unsent is still sent for after the close.
    """

    linger_s: float

    def send(self, parts: Sequence[Buffer]) -> bool:
        """Send one message whole, or return False: there is no room. Raises UndeliverableError."""

    def receive(self) -> list[Buffer] | None:
        """Return the parts of one message; None: there is none."""

    def events(self) -> int:
        """Return what can be done now: READ, WRITE."""

    def prepare(self, what: int) -> None:
        """Count one who is about to wait, to READ or to WRITE."""

    def hush(self, what: int) -> None:
        """Silence the bell of these waits: who calls it looks now."""

    def wait(self, what: int, seconds: float | None) -> None:
        """Return when something may have changed, after ``seconds`` at the latest. Called without the lock."""

    def done(self) -> None:
        """Count one who has waited."""

    def ring(self, what: int) -> None:
        """End these waits: each kind has a bell of its own."""

    def close(self) -> None:
        """Close. Waits that are under way end."""

    def after_fork_in_child(self) -> None:
        """Let go, in a forked child, of what tells peers that the parent lives."""


class ZmqPort:
    """A :class:`Port` that is a ZeroMQ socket.

    Args:
        kind: ``zmq.PUSH``, ``zmq.PULL``, ``zmq.ROUTER``, ``zmq.DEALER``, ...
        linger_s: Seconds that what is unsent is still sent for after the close.
        options: Other options: name -> value, for example ``{"sndhwm": 100}``.
    """

    def __init__(self, kind: int, *, linger_s: float, options: dict[str, Any] | None = None) -> None:
        self.linger_s = linger_s
        self.socket = context().socket(kind)
        self.socket.linger = round(linger_s * 1000)
        for name, value in (options or {}).items():
            setattr(self.socket, name, value)
        self._routes = kind == zmq.ROUTER
        self._fd: int = self.socket.getsockopt(zmq.FD)  # type: ignore[assignment]
        self._bells: dict[int, tuple[int, int]] = {}
        self._rings = {READ: False, WRITE: False}
        self._sleepers = 0
        self._hits = 0
        self._closed = False
        self._ends: list[tuple[str, bool]] = []
        # The calls of pyzmq's compiled part. Between them no signal handler runs, see send().
        self._send_part: Callable[..., Any] = partial(zmq.backend.Socket.send, self.socket)
        self._receive_part: Callable[..., Any] = partial(zmq.backend.Socket.recv, self.socket)
        # What can be done now: a third of what the option EVENTS costs.
        self._events: Callable[[], Any] = partial(
            zmq.backend.zmq_poll, [(self.socket, _POLLIN if self._routes else _POLLIN | _POLLOUT)], 0
        )

    def bind(self, endpoint: str) -> str:
        """Bind, and return the endpoint as it became: port 0 and ``*`` are resolved."""
        with no_fork():
            self.socket.bind(endpoint)
            bound: bytes = self.socket.getsockopt(zmq.LAST_ENDPOINT)  # type: ignore[assignment]
            self._ends.append((bound.rstrip(b"\0").decode(), True))
        return self._ends[-1][0]

    def connect(self, endpoint: str) -> None:
        """Connect, and go on connecting as long as nobody serves the endpoint."""
        with no_fork():
            self.socket.connect(endpoint)
            self._ends.append((endpoint, False))

    def send(self, parts: Sequence[Buffer]) -> bool:
        """Send one message whole, or return False: there is no room.

        Raises:
            UndeliverableError: A router knows no peer of this name.
        """
        more = len(parts) - 1
        try:
            if not more:
                self._send_part(parts[0], _NOBLOCK, len(parts[0]) < _SHARE_FROM)
            else:
                flags = [_NOBLOCK | _MORE] * more + [_NOBLOCK]
                copies = [len(part) < _SHARE_FROM for part in parts]
                # In one call, without bytecode in between: a signal handler that raises cannot cut a message in two.
                collections.deque(map(self._send_part, parts, flags, copies), maxlen=0)
        except zmq.Again:
            return False
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                raise UndeliverableError("the peer is not connected, or not any more") from error
            raise
        return True

    def receive(self) -> list[Buffer] | None:
        """Return the parts of one message; None: there is none. Large parts are views of ZeroMQ's memory."""
        if self._hits < _SURE:  # else there is one, too: messages come faster than they are taken
            found = self._events()  # an exception would take ten times as long
            if not found or not found[0][1] & _POLLIN:
                self._hits = 0
                return None
            self._hits += 1
        try:
            frame = self._receive_part(_NOBLOCK, False)
        except zmq.Again:
            self._hits = 0
            return None
        parts = [frame.bytes if len(frame) < _SHARE_FROM else frame.buffer]
        try:
            while frame.more:
                frame = self._receive_part(_NOBLOCK, False)
                parts.append(frame.bytes if len(frame) < _SHARE_FROM else frame.buffer)
        except BaseException:
            # A signal handler has raised: the rest must not be taken for the next message.
            while self.socket.getsockopt(zmq.RCVMORE):
                self._receive_part(_NOBLOCK, True)
            raise
        return parts

    def events(self) -> int:
        """Return what can be done now. A router can always be written to, which says nothing about one peer."""
        found = self._events()
        events = found[0][1] if found else 0
        return (READ if events & _POLLIN else 0) | (WRITE if events & _POLLOUT else 0)

    def prepare(self, what: int) -> None:
        """Count one who is about to wait. Under the lock."""
        if what not in self._bells:
            self._bells[what] = os.pipe()
        self._sleepers += 1

    def hush(self, what: int) -> None:
        """Silence a bell; after a close it goes on. Under the lock."""
        if not self._closed and self._rings[what]:
            self._rings[what] = False
            os.read(self._bells[what][0], 4096)

    def wait(self, what: int, seconds: float | None) -> None:
        """Wait for ZeroMQ's signal or the bell. Without the lock."""
        if what == WRITE and self._routes:
            time.sleep(_LOOK_S if seconds is None else min(_LOOK_S, seconds))
            return
        poll = select.poll()
        if not self._closed:
            poll.register(self._fd, select.POLLIN)
        poll.register(self._bells[what][0], select.POLLIN)
        poll.poll(None if seconds is None else max(0.0, seconds) * 1000)

    def done(self) -> None:
        """Count one who has waited. Under the lock."""
        self._sleepers -= 1
        if self._closed and not self._sleepers:
            self._drop_bells()

    def ring(self, what: int) -> None:
        """Ring. Under the lock."""
        if what in self._bells and not self._rings[what]:
            self._rings[what] = True
            os.write(self._bells[what][1], b"\0")

    def close(self) -> None:
        """Close. Under the lock. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self.socket.close()
        self.ring(READ)
        self.ring(WRITE)
        if not self._sleepers:
            self._drop_bells()

    def after_fork_in_child(self) -> None:
        """The child keeps no copy of the connections nor of the bell; pyzmq leaves the socket alone."""
        self._closed = True
        for endpoint, bound in self._ends:
            close_of(endpoint, bound=bound)
        self._drop_bells()

    def _drop_bells(self) -> None:
        bells, self._bells = self._bells, {}
        for bell in bells.values():
            for end in bell:
                os.close(end)
