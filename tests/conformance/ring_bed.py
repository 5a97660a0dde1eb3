"""The words of a ring in the memory of a controlled program: the code that ships runs on them one access at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.ring.board import Board
from fdcomm.ring.layout import BELL, FLAGS, PID, SIZE, WANT_BELL, WRITER_PID, Shape
from fdcomm.runtime import Words
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.kernel import ControlledKernel, WeakRuntime
from fdcomm.testing.tasks import Op

__all__ = ("Bed", "FlagBytes", "FreeLocks", "HeldLocks", "Poll", "RingKernel", "Stepped")


class Stepped:
    """Words each access to which is a step of its task."""

    def __init__(self, runtime: WeakRuntime, words: Words, flags: Words, first: int, last: int) -> None:
        self._runtime = runtime
        self._words = words
        self._flags = flags
        self._first = first
        self._last = last

    def __getitem__(self, place: int, /) -> int:
        if self._first <= place < self._last:
            return self._runtime.load(self._flags, place - self._first)
        return self._runtime.load(self._words, place)

    def __setitem__(self, place: int, value: int, /) -> None:
        self._runtime.store(self._words, place, value)


class FlagBytes:
    """The flags, byte by byte."""

    def __init__(self, runtime: WeakRuntime, flags: Words) -> None:
        self._runtime = runtime
        self._flags = flags

    def __getitem__(self, place: int, /) -> int:
        return self._runtime.load(self._flags, place)

    def __setitem__(self, place: int, value: int, /) -> None:
        self._runtime.store(self._flags, place, value)


class RingKernel(ControlledKernel):
    """A kernel with a futex in each word."""

    def __init__(self, runtime: WeakRuntime, words: Words, setters: Iterable[str]) -> None:
        super().__init__(runtime, (words, BELL), setters)
        self._words = words
        self._asleep = {bell: type(self.sleepers)() for bell in (BELL, WANT_BELL)}

    def sleep(self, address: int, token: int, timeout_s: float) -> None:
        """See Kernel: an address is a word and one."""
        scheduler = self.runtime.scheduler
        task = self.runtime.system_call("futex wait", str(token))
        if task is None or self._words[address - 1] != token:
            return
        sleepers = self._asleep[address - 1]
        sleepers.tasks.append(task)
        task.op = Op("waiting", "futex", sleepers, scheduler.clock + timeout_s)
        scheduler.switch(task)
        scheduler.note(task, "woken")

    def wake(self, address: int) -> int:
        """See Kernel. Not one sleeper of the other futex."""
        self.runtime.system_call("futex wake")
        sleepers = self._asleep[address - 1]
        asleep = list(sleepers.tasks)
        for task in asleep:
            sleepers.wake(task, woken=True)
        return len(asleep)


class FreeLocks:
    """Locks that are free: where the model has no lock, or the program says who is dead."""

    def __init__(self) -> None:
        self.dead: set[int] = set()

    def members(self, deadline: Deadline, operation: str) -> AbstractContextManager[None]:
        """Free at once."""
        return contextlib.nullcontext()

    def try_members(self) -> Any:
        """Free at once."""
        return contextlib.nullcontext()

    def take_line(self, line: int) -> bool:
        """Nobody has it."""
        return True

    def give_line(self, line: int) -> None:
        """Nothing to give."""

    def is_held(self, line: int) -> bool:
        """Its process lives."""
        return line not in self.dead


class HeldLocks(FreeLocks):
    """The members' lock as the kernel gives it: to one at a time."""

    def __init__(self, kernel: ControlledKernel, runtime: WeakRuntime) -> None:
        super().__init__()
        self._kernel = kernel
        self._runtime = runtime
        self._next = 0

    def members(self, deadline: Deadline, operation: str) -> AbstractContextManager[None]:
        """Wait for it."""
        while (lock := self.try_members()) is None:
            self._runtime.sleep(0.001)
        return lock  # type: ignore[no-any-return]

    def try_members(self) -> Any:
        """Take it if it is free."""
        self._next += 1
        fd = self._next
        return self._given_back(fd) if self._kernel.take(fd, 0, shared=False) else None

    @contextlib.contextmanager
    def _given_back(self, fd: int) -> Iterator[None]:
        yield
        self._kernel.give(fd, 0)


class Poll:
    """Patience of which nothing is seen: the next look comes when the scheduler says."""

    sleeps = 0

    def spin(self, place: int, least: int) -> bool:
        """Not yet."""
        return False

    def sleep_reader(self, *arguments: object) -> bool:
        """Awake at once."""
        return True

    sleep_writer = sleep_reader


class Bed:
    """One ring under the controlled scheduler.

    Args:
        scheduling: The runtime that the program was given.
        shape: The ring.
        direct: Words whose stores reach memory at once, because the model does not have them.
        setters: Names of the tasks that barriers reach, in that order.
        weak: Stores reach memory later, each by a step of its own.
    """

    def __init__(
        self,
        scheduling: ControlledRuntime,
        shape: Shape,
        direct: Iterable[int] = (),
        setters: Iterable[str] = (),
        *,
        weak: bool = True,
    ) -> None:
        self.shape = shape
        self.weak = weak
        self.words = scheduling.words(shape.nbytes // 8)
        self.flags = scheduling.words(len(shape.flag_words))
        flag_bytes: Any = memoryview(self.flags.obj).cast("B")
        places = {*direct, WRITER_PID, *(shape.of_line(line, PID) for line in range(shape.lines))}
        if not weak:
            places |= set(range(len(self.words)))
        self.direct = frozenset(places)
        unbuffered: list[tuple[Words, int]] = [(self.words, place) for place in places]
        if not weak:
            unbuffered += [(self.flags, place) for place in range(shape.lines)]
        self.runtime = WeakRuntime(scheduling.scheduler, unbuffered)
        self.kernel = RingKernel(self.runtime, self.words, setters)
        self.locks = FreeLocks()
        stepped = Stepped(self.runtime, self.words, self.flags, FLAGS, FLAGS + len(shape.flag_words))
        self.board = Board(
            shape,
            stepped,
            FlagBytes(self.runtime, flag_bytes),
            self.kernel,
            self.runtime,
            self.locks,
            lambda word: 1 + word,
        )

    def name(self, place: int) -> str:
        """Return what the scheduler calls a word."""
        return self.runtime._word(self.words, place)

    def sizes(self) -> list[int]:
        """The words that say how large a message is."""
        return [self.shape.of_slot(slot, SIZE) for slot in range(self.shape.slots)]
