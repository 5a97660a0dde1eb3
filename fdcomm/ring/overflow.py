"""Segments for payloads that are larger than a slot.

Each belongs to the ring's writer, and is used for one message at a time. It is used again when everybody who is counted
is done with that message, and not while a reader that was given up still lives: that one may be in the middle of it, so
then another segment is made. A reader therefore never copies bytes that change, whatever happens to it. What a killed
writer leaves behind, the next one takes over or removes.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Final

from fdcomm.deadline import Deadline
from fdcomm.errors import FdcommError, SignalNotFoundError
from fdcomm.ring.layout import COMPLEX, FORM, SEQ, SIZE
from fdcomm.ring.memory import Memory, make_segment, open_segment, remove_segment
from fdcomm.runtime import SYSTEM
from fdcomm.signals import ownership
from fdcomm.signals.files import Files
from fdcomm.signals.segment import Segment

__all__ = ("Mapped", "Overflow", "Overflows", "clean", "leftovers")

_PAGE: Final = 4096
_CLEANING_S: Final = 5.0


class Overflow:
    """One segment: its number, its bytes, and the last message that was put there."""

    __slots__ = ("message", "number", "segment", "view")

    def __init__(self, number: int, segment: Segment, message: int = 0) -> None:
        self.number = number
        self.segment = segment
        self.view = segment.data()
        self.message = message


def _name(memory: Memory, number: int) -> str:
    trailer = memory.segment.trailer
    instance = 0 if trailer is None else trailer.instance
    return f"{memory.segment.name}.{instance:x}.{number}o"


class Overflows:
    """The segments of the writer."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._pool: list[Overflow] = []
        self._made = 0

    def __len__(self) -> int:
        return len(self._pool)

    @property
    def nbytes(self) -> int:
        """How much memory they have."""
        return sum(item.segment.nbytes for item in self._pool)

    def get(self, nbytes: int, passed: int, zombies: bool, deadline: Deadline) -> Overflow:
        """Return a segment that nobody reads, of at least that size: the one that was used last, or a new one."""
        free = [item for item in self._pool if item.message <= passed and not zombies]
        fits = [item for item in free if item.segment.nbytes >= nbytes]
        if fits:
            return max(fits, key=lambda item: item.message)
        if free:  # all too small: one makes room for a larger one
            self._remove(min(free, key=lambda item: item.segment.nbytes), deadline)
        size = -(-(nbytes + nbytes // 4) // _PAGE) * _PAGE
        self._made += 1
        files = Files(self._memory.segment.files.directory)
        try:
            segment = make_segment(files, _name(self._memory, self._made), size, lambda data: None, deadline)
        except BaseException:
            files.abandon()
            raise
        ownership.hold(segment, self, SYSTEM)
        made = Overflow(self._made, segment)
        self._pool.append(made)
        return made

    def take_over(self, deadline: Deadline) -> None:
        """Take what a killed writer has left, as far as a message may still be read there, and remove the rest."""
        words, shape = self._memory.board.words, self._memory.shape
        used = {}
        for slot in range(shape.slots):
            place = shape.of_slot(slot)
            if words[place + SIZE] == COMPLEX and words[place + FORM]:
                used[words[place + FORM]] = words[place + SEQ]
        for name, _, number in leftovers(self._memory):
            own = _name(self._memory, number) == name
            self._made = max(self._made, number) if own else self._made
            segment = _abandoned(self._memory, name, deadline)
            if segment is None:
                continue
            if own and number in used:
                ownership.hold(segment, self, SYSTEM)
                self._pool.append(Overflow(number, segment, used[number]))
            else:
                remove_segment(segment, deadline)

    def close(self, deadline: Deadline, *, remove: bool) -> None:
        """Let go of all."""
        while self._pool:
            item = self._pool[-1]
            if remove:
                self._remove(item, deadline)
            else:
                self._pool.pop()
                ownership.forget(item.segment)
                item.segment.close()

    def _remove(self, item: Overflow, deadline: Deadline) -> None:
        self._pool.remove(item)
        item.view.release()
        ownership.forget(item.segment)
        remove_segment(item.segment, deadline)
        item.segment.close()


class Mapped:
    """The segments that a reader has mapped."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._known: dict[int, Segment] = {}

    def view(self, number: int, deadline: Deadline) -> memoryview | None:
        """Return the bytes of a segment; None: it is gone, so the message was over for everybody who is counted."""
        segment = self._known.get(number)
        if segment is None:
            self._forget()
            files = Files(self._memory.segment.files.directory)
            try:
                segment = self._known[number] = open_segment(files, _name(self._memory, number), deadline)
            except BaseException as error:
                files.abandon()
                if isinstance(error, SignalNotFoundError):
                    return None
                raise
        return segment.data()

    def close(self) -> None:
        """Let go of all. What was taken out stays valid memory."""
        while self._known:
            self._known.popitem()[1].close()

    def _forget(self) -> None:
        for number, segment in list(self._known.items()):
            if segment.superseded():
                del self._known[number]
                segment.close()


def leftovers(memory: Memory) -> list[tuple[str, str, int]]:
    """Return name, instance and number of every file that looks like a segment of a ring of this name."""
    pattern = re.compile(re.escape(memory.segment.name) + r"\.([0-9a-f]+)\.(\d+)o")
    found = []
    for name in os.listdir(memory.segment.files.directory):
        match = pattern.fullmatch(name)
        if match is not None:
            found.append((name, match[1], int(match[2])))
    return found


def clean(memory: Memory, deadline: Deadline) -> None:
    """Remove the segments of rings of this name whose writers are dead."""
    for name, _, _ in leftovers(memory):
        segment = _abandoned(memory, name, deadline)
        if segment is not None:
            remove_segment(segment, deadline)


def _abandoned(memory: Memory, name: str, deadline: Deadline) -> Segment | None:
    """Own a segment whose owner is dead; None: it lives, or the segment is gone."""
    files = Files(memory.segment.files.directory)
    with contextlib.suppress(FdcommError):
        segment = open_segment(files, name, deadline)
        fd = files.again(segment.fd)
        if files.lock(fd):
            segment.own(fd)
            return segment
    files.abandon()
    return None
