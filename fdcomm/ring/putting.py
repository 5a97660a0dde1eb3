"""How an object that does not fit into the plain way gets its place in a ring: its slot, or a segment of its own."""

from __future__ import annotations

from typing import Final

from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.items import require_size
from fdcomm.ring import members
from fdcomm.ring.layout import COMPLEX, FORM, LENGTH, PARTS
from fdcomm.ring.memory import Memory
from fdcomm.ring.overflow import Overflow, Overflows
from fdcomm.ring.payload import Encoded, Refuse, encode, encode_into, not_pickled
from fdcomm.ring.publisher import Publisher
from fdcomm.runtime import SYSTEM

__all__ = ("Putting",)

_STRAIGHT: Final = 65536
_MAKE_S: Final = 5.0


class Putting:
    """Writes and publishes. Whoever calls has the writer's place, and nobody else in this process uses it now.

    Args:
        memory: The ring.
        publisher: Says which slot is free.
        overflows: Segments for what is larger than a slot.
        most: How many bytes an object may have; None: any number.
    """

    def __init__(self, memory: Memory, publisher: Publisher, overflows: Overflows, most: int | None = None) -> None:
        self._memory = memory
        self._publisher = publisher
        self._overflows = overflows
        self._most = most
        self._last_size = 0

    @property
    def straight(self) -> bool:
        """True when the last object was large: then the next one is pickled straight into its place."""
        return self._last_size >= _STRAIGHT

    def put_complex(self, made: Encoded, timeout: Timeout, operation: str) -> None:
        """Put what has buffers, or does not fit into a slot. There is room."""
        self.check(made.nbytes, operation)
        self._last_size = 0 if made.buffers else made.nbytes
        publisher = self._publisher
        if made.nbytes <= self._memory.shape.slot_bytes:
            made.write(self._memory.payloads[publisher.slot])
            self._publish(0, len(made.buffers), made.nbytes)
            return
        place = self._place(made.nbytes, timeout, operation)
        made.write(place.view)
        place.message = publisher.head + 1
        self._publish(place.number, len(made.buffers), made.nbytes)

    def put_straight(self, thing: object, timeout: Timeout, operation: str, refuse: Refuse = not_pickled) -> None:
        """Let the pickler write to where it is read. What has buffers, or is larger than ever, is pickled again."""
        publisher = self._publisher
        if publisher.head >= publisher.room:
            publisher.make_room(timeout, operation)
        place = self._place(self._last_size, timeout, operation)
        size, buffers = encode_into(thing, place.view, refuse)
        if size > place.view.nbytes or buffers:
            self.put_complex(encode(thing, refuse), timeout, operation)
            return
        self.check(size, operation)
        self._last_size = size
        place.message = publisher.head + 1
        self._publish(place.number, 0, size)

    def check(self, nbytes: int, operation: str) -> None:
        """Raise PayloadTooLargeError for what is larger than is allowed."""
        if self._most is not None:
            require_size(nbytes, self._most, operation)

    def _place(self, nbytes: int, timeout: Timeout, operation: str) -> Overflow:
        def limit() -> Deadline:
            # Others make or remove files in that folder just now: that does not count as waiting for readers.
            seconds = timeout_seconds(timeout, operation)
            return Deadline(None if seconds is None else max(seconds, _MAKE_S), SYSTEM.monotonic)

        publisher = self._publisher
        publisher.look()
        zombies = publisher.gave_up and members.zombies(self._memory.board)
        return self._overflows.get(nbytes, publisher.passed, zombies, limit)

    def _publish(self, number: int, parts: int, length: int) -> None:
        words, place = self._memory.board.words, self._memory.shape.of_slot(self._publisher.slot)
        words[place + FORM], words[place + PARTS], words[place + LENGTH] = number, parts, length
        self._publisher.publish(COMPLEX)
