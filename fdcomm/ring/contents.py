"""Where the bytes of a ring's messages are: in their slots, or in segments of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fdcomm.deadline import Deadline
from fdcomm.errors import ProtocolViolationError, SignalReplacedError
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import FORM, LENGTH, PARTS, SIZE
from fdcomm.ring.memory import Memory
from fdcomm.ring.overflow import Mapped

__all__ = ("Contents", "Payload")


class Payload(NamedTuple):
    """The bytes of a message, how many buffers stand beside its stream, and whether the bytes are shared memory."""

    nbytes: memoryview
    parts: int
    shared: bool


class Contents:
    """What one process reads of a ring. The memory stays the caller's.

    A segment is never filled again while a reader lives that may be in it: it is read where it is. A slot is, when its
    reader was given up: so it is copied, and nothing is made of the copy before that is known.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._mapped = Mapped(memory)

    def of(self, slot: int, limit: Callable[[], Deadline], check: Callable[[], None] = lambda: None) -> Payload | None:
        """Return what is in a slot, or None if it is in a segment that is gone.

        Args:
            slot: The slot.
            limit: Makes the limit of the wait for others who make or remove segments, if there is one.
            check: Called when the words have been loaded that say which segment it is.
        """
        memory, words = self._memory, self._memory.board.words
        place = memory.shape.of_slot(slot)
        size, segment, parts, length = (words[place + word] for word in (SIZE, FORM, PARTS, LENGTH))
        if size >= 0:
            return Payload(memoryview(memory.payloads[slot][:size].tobytes()), 0, False)
        if not segment:
            return Payload(memoryview(memory.payloads[slot][:length].tobytes()), parts, False)
        check()
        found = self._mapped.view(segment, limit)
        return None if found is None else Payload(found[:length], parts, True)

    def begun(self, consumer: Consumer, limit: Callable[[], Deadline], operation: str) -> Payload:
        """Return the message that a reader has begun.

        Raises:
            FencedError: The reader was given up.
            SignalReplacedError: The ring was removed, or made anew.
        """
        found = self.of(consumer.slot, limit, consumer.check)  # the words were this message's
        if found is None:
            consumer.check()
            if self._memory.board.is_over():
                raise SignalReplacedError(
                    f"{operation}: the ring was removed, or made anew; attach again", operation=operation
                )
            raise ProtocolViolationError(f"{operation}: the payload's segment is gone, and its reader was not given up")
        return found

    def close(self) -> None:
        """Let go of the segments. What was taken out stays valid memory."""
        self._mapped.close()
