"""A segment of signals in the memory of a controlled program, for the shipping classes of typed access."""

from __future__ import annotations

import itertools
from typing import Any
from weakref import WeakSet

from fdcomm.runtime import Words
from fdcomm.signals.layout import LOCK_OWNER, SUCCESSOR, TRAILER_WORDS, WAITERS, WAKE, Layout, OwnerInfo, Trailer
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.kernel import ControlledKernel, WeakRuntime

__all__ = ("Bed",)


class _Files:
    """Descriptors are numbers that are never used twice."""

    def __init__(self) -> None:
        self._next = itertools.count(100)
        self.open_now: set[int] = {0}

    def again(self, fd: int) -> int:
        del fd
        new = next(self._next)
        self.open_now.add(new)
        return new


class _Found:
    size = 8 * TRAILER_WORDS


class _Segment:
    """What typed access uses of :class:`fdcomm.signals.segment.Segment`."""

    name = "signal"
    fd = 0
    found = _Found()

    def __init__(self, data: Words, trailer: Words, count: int) -> None:
        self.files = _Files()
        self.users: WeakSet[Any] = WeakSet()
        self.words = trailer
        self.memory = data
        self.nbytes = 8 * count
        owner = OwnerInfo(1, 1, (0, 0), 0)
        self.trailer = Trailer(Layout("<i8", (count,), 8 * count), owner, 1, 1, 0)

    def data(self) -> Any:
        return memoryview(self.memory).cast("B")

    def address(self, word: int) -> int:
        return 1 + word

    def superseded(self) -> bool:
        return self.words[SUCCESSOR] != 0


class Bed:
    """Memory, kernel and segment of one controlled program.

    Args:
        scheduling: The runtime that the program was given.
        count: Number of elements.
        setters: Names of the tasks that barriers reach.
        weak: Stores reach memory later, each by a step of its own.
    """

    def __init__(
        self, scheduling: ControlledRuntime, count: int = 1, setters: tuple[str, ...] = (), *, weak: bool = True
    ) -> None:
        self.weak = weak
        self.data = scheduling.words(count)
        self.trailer = scheduling.words(TRAILER_WORDS)
        owners = [(self.trailer, LOCK_OWNER), (self.trailer, LOCK_OWNER + 1)]
        if not weak:
            owners += [(self.data, place) for place in range(count)]
            owners += [(self.trailer, place) for place in range(TRAILER_WORDS)]
        self.runtime = WeakRuntime(scheduling.scheduler, owners)
        self.kernel = ControlledKernel(self.runtime, (self.trailer, WAKE), setters)
        self.segment: Any = _Segment(self.data, self.trailer, count)
        self.names = {
            self.runtime._word(self.trailer, place): name
            for place, name in ((WAITERS, "waiters"), (WAKE, "wake"), (SUCCESSOR, "gone"))
        }

    def supersede(self) -> None:
        """What a create or a clear does to the segment that had the name."""
        self.runtime.store(self.trailer, SUCCESSOR, 1)
        self.runtime.store(self.trailer, WAKE, self.kernel.token())
        self.kernel.wake(1)
