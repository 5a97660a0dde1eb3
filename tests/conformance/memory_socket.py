"""A socket in memory that has ZeroMQ's signal: one look consumes it for all, and it does not come again."""

from __future__ import annotations

from collections.abc import Sequence

from fdcomm.testing import ControlledRuntime
from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.port import READ, WRITE

__all__ = ("MemorySocket",)


class MemorySocket:
    """A :class:`fdcomm.zsocket.port.Port` on a controlled runtime: parts go out one by one, and messages come in.

    Args:
        runtime: The scheduler's.
        room: Messages that may be sent until the peer takes some.
    """

    linger_s = 0.0

    def __init__(self, runtime: ControlledRuntime, room: int = 9) -> None:
        self._runtime = runtime
        self._net = runtime.condition()
        self.room = room
        self.wire: list[Buffer] = []
        self._arriving: list[list[Buffer]] = []
        self._inbox: list[list[Buffer]] = []
        self._freed = 0
        self._signal = False
        self._bells: set[int] = set()
        self.closed = False

    # -- the peer ----------------------------------------------------------------------------------------------------

    def arrive(self, *parts: Buffer) -> None:
        """A message comes."""
        with self._net:
            self._arriving.append(list(parts))
            self._signal = True
            self._net.notify_all()

    def take(self) -> None:
        """The peer takes a message: there is room for one more."""
        with self._net:
            self._freed += 1
            self._signal = True
            self._net.notify_all()

    # -- the port ----------------------------------------------------------------------------------------------------

    def _process(self) -> None:
        """Take in what has happened, and with it the signal."""
        with self._net:
            self._signal = False
            self._inbox += self._arriving
            self.room += self._freed
            self._arriving, self._freed = [], 0

    def send(self, parts: Sequence[Buffer]) -> bool:
        """Send one message, part by part."""
        self._process()
        if not self.room:
            return False
        self.room -= 1
        for part in parts:
            self._runtime.access("wire", change=True)
            self.wire.append(part)
        return True

    def receive(self) -> list[Buffer] | None:
        """Return the next message."""
        self._process()
        return self._inbox.pop(0) if self._inbox else None

    def events(self) -> int:
        """Return what can be done now."""
        self._process()
        return (READ if self._inbox else 0) | (WRITE if self.room else 0)

    def prepare(self, what: int) -> None:
        """Somebody will wait."""

    def hush(self, what: int) -> None:
        """The bell is silent."""
        with self._net:
            self._bells.discard(what)

    def wait(self, what: int, seconds: float | None) -> None:
        """Wait for the signal or the bell."""
        with self._net:
            while not (self._signal or what in self._bells or self.closed):
                self._net.wait(seconds)

    def done(self) -> None:
        """Somebody has waited."""

    def ring(self, what: int) -> None:
        """Ring."""
        with self._net:
            self._bells.add(what)
            self._net.notify_all()

    def close(self) -> None:
        """Close."""
        with self._net:
            self.closed = True
            self._net.notify_all()

    def after_fork_in_child(self) -> None:
        """Nothing to let go of."""
