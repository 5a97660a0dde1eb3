"""The FMQ queue as two pure objects: what a producer keeps, and what the consumer knows of its producers.

One method per action of ``spec/fmq.toml`` (``tla/fmq/Fmq.tla``). Messages of a producer are numbered from 1. A
connection is used once: it begins with everything that is not acknowledged, in order, and when it breaks the next one
is new. So what the consumer reads of one connection never has a hole, and a number that it knows is a duplicate.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("Known", "Receiver", "Sender", "Verdict")

T = TypeVar("T")

Verdict: TypeAlias = Literal["given", "duplicate", "skipped", "hole"]


class Sender(Generic[T]):
    """What one producer has put and not heard of again.

    Attributes:
        window: Most messages that are not acknowledged.
        keeps: True: a message is kept until it is acknowledged, and sent again. False: what a broken connection may
            have lost is counted in ``dropped``, and not sent again.
        sent: Messages so far.
        base: Every message up to this number is acknowledged, or was dropped.
        linked: A connection is up.
        kept: With ``keeps``: the messages after ``base``, in order.
        dropped: Messages that nobody keeps and nobody may have received.
    """

    def __init__(self, window: int, keeps: bool = True) -> None:
        if window < 1:
            raise ConfigError(f"window={window} must be at least 1")
        self.window: Final = window
        self.keeps: Final = keeps
        self.sent = 0
        self.base = 0
        self.linked = False
        self.live = True
        self.kept: deque[T] = deque()
        self.dropped = 0

    @property
    def full(self) -> bool:
        """True while no message may be put."""
        return self.sent - self.base >= self.window

    def put(self, message: T) -> int:
        """Put: take a message. It has to be sent if ``linked``. Return its number; 0 while the window is full."""
        self._require(self.live, "Put: the producer has ended")
        if self.sent - self.base >= self.window:
            return 0
        self.sent += 1
        if self.keeps:
            self.kept.append(message)
        return self.sent

    def connect(self) -> tuple[int, tuple[T, ...]]:
        """Connect: return ``base``, and what has to be sent on the new connection before anything else."""
        self._require(self.live and not self.linked, "Connect: there is a connection, or the producer has ended")
        self.linked = True
        if self.keeps:
            return self.base, tuple(self.kept)
        self.dropped += self.sent - self.base
        self.base = self.sent
        return self.base, ()

    def cut(self) -> None:
        """Cut: the connection is gone, with what was under way."""
        self._require(self.linked, "Cut: there is no connection")
        self.linked = False

    def hear(self, number: int) -> bool:
        """HearAck: every message up to this number is done. Return whether that was news."""
        self._require(self.live, "HearAck: the producer has ended")
        self._require(0 <= number <= self.sent, f"HearAck: {number} was never put")
        if number <= self.base:
            return False
        if self.keeps:
            for _ in range(number - self.base):
                self.kept.popleft()
        self.base = number
        return True

    def end(self) -> int:
        """End: the producer goes. Return how many messages are not acknowledged."""
        self._require(self.live, "End: the producer has ended")
        self.live = self.linked = False
        left = self.sent - self.base
        self.kept.clear()
        return left

    @staticmethod
    def _require(allowed: bool, text: str) -> None:
        if not allowed:
            raise ProtocolViolationError(text)


@dataclass(slots=True)
class Known:
    """What the consumer knows of one producer.

    Attributes:
        last: Every message up to this number was read, or will not come.
        done: The consumer is done with every message up to this number, and has removed its payload.
        told: Up to here it has acknowledged.
        peer: The connection that it answers to.
    """

    last: int
    done: int
    told: int
    peer: int = 0


class Receiver:
    """The consumer's knowledge of its producers, by their ids."""

    def __init__(self) -> None:
        self.producers: dict[bytes, Known] = {}

    def read(self, producer: bytes, connection: int, number: int, base: int, there: bool = True) -> Verdict:
        """Take (given), Skip (skipped) or Drop (duplicate): what becomes of the next message of a connection.

        Args:
            producer: Whose it is.
            connection: Which of its connections brought it; they count up.
            number: Its number.
            base: What its producer knew to be done, or had dropped, when it sent it.
            there: Its payload is where it says. If not, a consumer was done with it: nobody else removes it.

        Returns:
            "hole" if messages before it are missing, which no connection of ours does. Nothing was changed.
        """
        known = self.producers.get(producer)
        if known is None:
            if number != base + 1:
                return "hole"
            self.producers[producer] = Known(number, base, base, connection)
        else:
            last = max(known.last, base)
            if number > last + 1:
                return "hole"
            known.peer = max(known.peer, connection)
            if number <= last:
                known.told = min(known.told, number - 1)  # its producer may not have heard: it is told again
                return "duplicate"
            known.last = number
        return "given" if there else "skipped"

    def undone(self, producer: bytes) -> range:
        """Return the numbers of the messages that were read and are not done."""
        known = self.producers.get(producer)
        return range(0) if known is None else range(known.done + 1, known.last + 1)

    def finish(self, producer: bytes) -> int:
        """Finish: all that was read is handled, and its payloads are removed. Return the last number."""
        known = self._known(producer, "Finish")
        if known.last == known.done:
            raise ProtocolViolationError(f"Finish: everything of producer {producer.hex()} is done")
        known.done = known.last
        return known.done

    def acknowledge(self, producer: bytes) -> int:
        """Acknowledge: return the number to tell the producer; 0 when it was told already."""
        known = self._known(producer, "Acknowledge")
        if known.told >= known.done:
            return 0
        known.told = known.done
        return known.done

    def reclaim(self, producer: bytes) -> int:
        """Reclaim: the producer is gone, and all of it was read. Return the last number that was."""
        known = self._known(producer, "Reclaim")
        if known.done != known.last:
            raise ProtocolViolationError(f"Reclaim: messages up to {known.last} are not done")
        del self.producers[producer]
        return known.last

    def _known(self, producer: bytes, action: str) -> Known:
        known = self.producers.get(producer)
        if known is None:
            raise ProtocolViolationError(f"{action}: nothing was read of producer {producer.hex()}")
        return known
