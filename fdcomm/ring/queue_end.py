"""``QueueEnd``: what one handle does with a ring that serves a queue: puts, takes for its rank, clears, looks."""

from __future__ import annotations

from typing import Final, NamedTuple

from fdcomm.deadline import Deadline, Timeout
from fdcomm.ring import clearing
from fdcomm.ring.look import Look
from fdcomm.ring.memory import Memory
from fdcomm.ring.peek import peek
from fdcomm.ring.producer import Producer
from fdcomm.ring.rank_port import Decode, RankPort, Taken
from fdcomm.runtime import SYSTEM

__all__ = ("Cleared", "QueueEnd")

_CLEAR_S: Final = 5.0


class Cleared(NamedTuple):
    """What a clear did: the messages that it took back, and who has taken the oldest of those that stay."""

    dropped: tuple[int, ...]
    taken: tuple[int, ...]


class QueueEnd:
    """One handle's end. The memory, the producer and the look stay the caller's.

    A clear is for the epoch that the handle has seen: that in which it came, or cleared, or put or took a message.
    So it does nothing if there was a clear since, and the handle has neither put nor taken a message that is newer
    than that clear.
    """

    def __init__(self, memory: Memory, producer: Producer, look: Look) -> None:
        self._memory = memory
        self._producer = producer
        self.look = look
        self.port: RankPort | None = None
        self._epoch = self.look.clears()[0]
        self._put_last = 0
        self._closed = False

    @property
    def epoch(self) -> int:
        """Clears so far."""
        return self.look.clears()[0]

    def put(self, thing: object, limit: Timeout, operation: str, count: int) -> int:
        """Put an object; see :meth:`Producer.put`."""
        number = self._producer.put(thing, limit, operation, count)
        self._put_last = number
        return number

    def put_stream(self, stream: bytes, limit: float | None, operation: str, count: int) -> int:
        """Put a pickled object; see :meth:`Producer.put_stream`."""
        number = self._producer.put_stream(stream, limit, operation, count, lambda: not self._closed)
        self._put_last = number
        return number

    def claim(self, rank: int, limit: float | None) -> RankPort:
        """Become the reader of a rank; see :class:`RankPort`."""
        port = self.port
        if port is None:
            port = self.port = RankPort(self._memory, rank, self.look, Deadline(limit, SYSTEM.monotonic))
            self._epoch = self.epoch
        return port

    def take(self, decode: Decode, ticket: int, limit: float | None, operation: str) -> Taken | None:
        """Take the rank's next message; see :meth:`RankPort.take`."""
        if self.port is None:
            raise RuntimeError("take before claim")
        return self.port.take(decode, ticket, limit, operation)

    def clear(self, operation: str) -> Cleared:
        """Take back what no rank has begun, unless another clear did that since this handle took part."""
        board, look = self._memory.board, self.look
        deadline = Deadline(_CLEAR_S, SYSTEM.monotonic)
        while True:
            epoch, cleared = look.clears()
            last = self._put_last if self.port is None else self.port.position
            if epoch != self._epoch and last <= cleared:
                dropped: tuple[int, ...] = ()
                self._epoch = epoch
                break
            before = tuple(look.numbers())
            if clearing.clear(board, epoch, deadline, operation):
                self._epoch = epoch + 1
                dropped = tuple(number for number in before if not look.is_there(number) and not look.taken(number))
                break
        oldest = look.oldest()
        return Cleared(dropped, look.taken(oldest) if oldest else ())

    def peek(self) -> list[tuple[bytes, int]]:
        """Return copies of the retained payloads; see :func:`fdcomm.ring.peek.peek`."""
        return peek(self._memory, self.look, Deadline(_CLEAR_S, SYSTEM.monotonic))

    def close(self, *, leave: bool) -> None:
        """Stop being the rank's reader: in order, or as one that has died. A put that waits is not carried out."""
        self._closed = True
        port, self.port = self.port, None
        if port is not None:
            port.close(leave=leave)
