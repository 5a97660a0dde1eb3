"""Segments for payloads that are larger than a slot: ``tla/ring/RingOverflow.tla``.

Each belongs to one writer, and is used for one message at a time. It is used again when everybody who is counted is
done with that message, and not while a reader that was given up still lives: that one may be in the middle of it, so
then another segment is made. A reader therefore never copies bytes that change, whatever happens to it.

Several processes may take turns as the writer, each with segments of its own; a word of the ring counts their numbers.
What a writer leaves behind, in order or killed, another one takes over as far as somebody still has to read it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Final

from fdcomm.deadline import Deadline
from fdcomm.errors import FdcommError, SignalNotFoundError
from fdcomm.ring.layout import BEGUN, COMPLEX, FORM, SEGMENTS, SEQ, SIZE
from fdcomm.ring.memory import Memory, make_segment, open_segment, remove_segment
from fdcomm.runtime import SYSTEM
from fdcomm.signals import ownership
from fdcomm.signals.files import NEW, Files
from fdcomm.signals.segment import Segment
from fdcomm.signals.stepping import Steps, drive, take_guard

__all__ = ("Mapped", "Overflow", "Overflows", "clean", "leftovers")

_PAGE: Final = 4096
_BEGIN: Final = 2048
"""The first byte that is used. Large objects of Python begin near the beginning of a page, and some processors (Zen 3
and 4) copy 15 times slower to where bytes lie a little further in their page than they did. Half a page is far."""


class Overflow:
    """One segment: its number, its bytes, and the last message that was put there."""

    __slots__ = ("message", "number", "segment", "view")

    def __init__(self, number: int, segment: Segment, message: int = 0) -> None:
        self.number = number
        self.segment = segment
        self.view = segment.data()[_BEGIN:]
        self.message = message


def _name(memory: Memory, number: int) -> str:
    return f"{memory.segment.name}.{_instance(memory)}.{number}o"


def _instance(memory: Memory) -> str:
    trailer = memory.segment.trailer
    return f"{0 if trailer is None else trailer.instance:x}"


class Overflows:
    """The segments of one writer process. Every method but :meth:`close` is called under the writer's lock."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._runtime = memory.board.runtime
        self._pool: list[Overflow] = []
        self._recent: Overflow | None = None
        self._begun = tuple(memory.shape.of_line(line, BEGUN) for line in range(memory.shape.lines))

    def __len__(self) -> int:
        return len(self._pool)

    @property
    def nbytes(self) -> int:
        """How much memory they have."""
        return sum(item.segment.nbytes for item in self._pool)

    def get(self, nbytes: int, passed: int, zombies: bool, limit: Callable[[], Deadline]) -> Overflow:
        """Return a segment that nobody reads, of at least that size: the one that was used last, or a new one.

        The caller fills it, stores in ``message`` the number of the message that it is for, and publishes that.

        Args:
            nbytes: Bytes that are needed.
            passed: The last message that everybody who is counted is done with; if nobody is, any number.
            zombies: A reader that was given up lives. To be asked after ``passed``.
            limit: Makes the limit of the waits for other processes that make or remove segments just now.
        """
        over, recent = self._over(passed), self._recent
        if recent is not None and not zombies and recent.view.nbytes >= nbytes and self._is_over(recent, over):
            return recent
        free = [] if zombies else [item for item in self._pool if self._is_over(item, over)]
        fits = [item for item in free if item.view.nbytes >= nbytes]
        if fits:
            self._recent = max(fits, key=lambda item: item.message)
            return self._recent
        deadline = limit()
        if free:  # all too small: one makes room for a larger one
            self._remove(min(free, key=lambda item: item.segment.nbytes), deadline)
        size = -(-(_BEGIN + nbytes + nbytes // 4) // _PAGE) * _PAGE
        words = self._memory.board.words
        number = words[SEGMENTS] + 1
        words[SEGMENTS] = number  # before there is one: whoever comes after a kill makes another number
        files = self._memory.segment.files.another()
        try:
            segment = make_segment(files, _name(self._memory, number), size, lambda data: None, deadline, self._runtime)
        except BaseException:
            files.abandon()
            raise
        return self._have(Overflow(number, segment))

    def take_over(self, deadline: Deadline, passed: int = 0) -> None:
        """Take what other writers have left and somebody still has to read; remove what nobody has to.

        Args:
            deadline: Limit of the waits for other processes.
            passed: As in :meth:`get`. 0 when it is not known: then everything that a slot names is taken, and nothing
                of this writer's own is removed.
        """
        over = self._over(passed)
        while self._take(over, deadline):
            pass  # others may have left more meanwhile
        _sweep(self._memory, deadline)

    def _take(self, over: int, deadline: Deadline) -> int:
        """Take or remove what is there now; return how many segments that were."""
        said, mine = self._said(), {item.number: item for item in self._pool}
        count = len(self._pool)
        for name, instance, number in leftovers(self._memory):
            if instance != _instance(self._memory):
                continue
            if number in mine:
                if self._is_over(mine[number], over):
                    self._remove(mine[number], deadline)
                continue
            segment = _abandoned(self._memory, name, deadline)
            if segment is None:
                continue
            count += 1
            if said.get(number, 0) > over:
                self._have(Overflow(number, segment, said[number]))
            else:
                remove_segment(segment, deadline, self._runtime)
        return count - sum(item.number in mine for item in self._pool)

    def _said(self) -> dict[int, int]:
        """The segments that slots name, with the last message of each: an older slot may name one that was used again.

        A slot whose number was not stored yet says so of the message before. One that was taken back is nobody's.
        """
        words, shape = self._memory.board.words, self._memory.shape
        found: dict[int, int] = {}
        for slot in range(shape.slots):
            place = shape.of_slot(slot)
            number = words[place + FORM]
            if words[place + SIZE] == COMPLEX and number:
                found[number] = max(found.get(number, 0), words[place + SEQ])
        return found

    def _over(self, passed: int) -> int:
        """Up to this message everybody is done who is counted, or will be: who comes back begins after what is begun.

        When nobody is counted nothing else says what is still to be read. Announcements that are on their way make it
        less than it is.
        """
        words = self._memory.board.words
        return min(passed, max([words[place] for place in self._begun]))

    def _is_over(self, item: Overflow, over: int) -> bool:
        """Nobody has to read it: it was passed, or its slot says another number. A slot does when it was used again, or
        when the message was taken back before anybody had begun it.
        """
        shape, number = self._memory.shape, item.message
        return number <= over or self._memory.board.words[shape.of_slot((number - 1) % shape.slots)] != number

    def close(self, deadline: Deadline, *, remove: bool, passed: int = 0) -> None:
        """Let go of all. ``remove``: the ring is gone, or goes. Else what is over is removed, and the rest is left."""
        if remove:
            self._remove_all(deadline)
        over = self._over(passed) if self._pool else 0
        for item in sorted(self._pool, key=lambda item: item.number):
            if self._is_over(item, over):
                self._remove(item, deadline)
            else:
                self._pool.remove(item)
                ownership.forget(item.segment)
                item.segment.close()
        if not remove and self._memory.board.is_over():  # meanwhile: who ended it did not find these
            self._remove_all(deadline)

    def _remove_all(self, deadline: Deadline) -> None:
        """Remove what is this writer's, or nobody's."""
        mine = {item.number: item for item in self._pool}
        for name, instance, number in leftovers(self._memory):
            if instance == _instance(self._memory):
                if number in mine:
                    self._remove(mine[number], deadline)
                elif (segment := _abandoned(self._memory, name, deadline)) is not None:
                    remove_segment(segment, deadline, self._runtime)
        _sweep(self._memory, deadline)

    def _have(self, item: Overflow) -> Overflow:
        # Where another process owns the ring, it goes on after this one's end: then who takes over decides.
        if self._memory.segment.owned:
            ownership.hold(item.segment, self, SYSTEM)
        self._pool.append(item)
        self._recent = item
        return item

    def _remove(self, item: Overflow, deadline: Deadline) -> None:
        self._pool.remove(item)
        self._recent = None
        item.view.release()
        ownership.forget(item.segment)
        remove_segment(item.segment, deadline, self._runtime)
        item.segment.close()


class Mapped:
    """The segments that a reader has mapped."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._runtime = memory.board.runtime
        self._known: dict[int, tuple[Segment, memoryview]] = {}

    def view(self, number: int, limit: Callable[[], Deadline]) -> memoryview | None:
        """Return the bytes of a segment; None: it is gone, so the message was over for everybody who is counted."""
        known = self._known.get(number)
        if known is None or known[0].superseded():
            self._forget()
            files = self._memory.segment.files.another()
            try:
                segment = open_segment(files, _name(self._memory, number), limit(), self._runtime)
            except BaseException as error:
                files.abandon()
                if isinstance(error, SignalNotFoundError):
                    return None
                raise
            known = self._known[number] = segment, segment.data()[_BEGIN:]
        return known[1]

    def close(self) -> None:
        """Let go of all. What was taken out stays valid memory."""
        while self._known:
            self._known.popitem()[1][0].close()

    def _forget(self) -> None:
        for number, (segment, _) in list(self._known.items()):
            if segment.superseded():
                del self._known[number]
                segment.close()


def leftovers(memory: Memory, ending: str = "") -> list[tuple[str, str, int]]:
    """Return name, instance and number of every file that looks like a segment of a ring of this name, by number."""
    pattern = re.compile(re.escape(memory.segment.name) + r"\.([0-9a-f]+)\.(\d+)o" + re.escape(ending))
    matches = map(pattern.fullmatch, memory.segment.files.listed())
    found = [(match[0], match[1], int(match[2])) for match in matches if match is not None]
    return sorted(found, key=lambda one: one[1:][::-1])


def clean(memory: Memory, deadline: Deadline) -> None:
    """Remove the segments of all rings of this name that nobody owns."""
    for name, _, _ in leftovers(memory):
        segment = _abandoned(memory, name, deadline)
        if segment is not None:
            remove_segment(segment, deadline, memory.board.runtime)
    _sweep(memory, deadline)


def _sweep(memory: Memory, deadline: Deadline) -> None:
    """Remove segments that got no name, because their writers were killed: no number is made twice, so nobody else
    comes across them."""
    if leftovers(memory, NEW):
        files = memory.segment.files.another()
        try:
            drive("sweep", _unnamed(files, memory), memory.board.runtime, deadline)
        finally:
            files.abandon()


def _unnamed(files: Files, memory: Memory) -> Steps[None]:
    guard = yield from take_guard(files, "TakeGuard")
    try:
        for name, _, _ in leftovers(memory, NEW):  # nobody makes one under the guard
            files.unlink(name)
            yield "DropTemp"
    finally:
        files.close(guard)


def _abandoned(memory: Memory, name: str, deadline: Deadline) -> Segment | None:
    """Own a segment whose owner is dead; None: it lives, or the segment is gone."""
    files = memory.segment.files.another()
    with contextlib.suppress(FdcommError):
        segment = open_segment(files, name, deadline, memory.board.runtime)
        fd = files.again(segment.fd)
        if files.lock(fd):
            segment.own(fd)
            return segment
    files.abandon()
    return None
