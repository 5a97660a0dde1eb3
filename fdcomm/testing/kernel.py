"""The system calls of typed access to signals, and the memory below them, under the controlled scheduler.

:class:`WeakRuntime` has the store buffers of x86-64: what a task stores reaches memory later, in its order, when the
task ``memory of <task>`` is chosen. :class:`ControlledKernel` has futexes, barriers and locks on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fdcomm.runtime import Words
from fdcomm.testing.controlled import ControlledRuntime
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.tasks import Op, Task

__all__ = ("ControlledKernel", "WeakRuntime")

Store = tuple[str, Words, int, int]


class _When:
    """Makes an operation possible only while a condition holds: the scheduler asks whether it has an owner."""

    op = Op("full")

    def __init__(self, name: str, holds: Callable[[], bool]) -> None:
        self.name = name
        self._holds = holds

    @property
    def owner(self) -> _When | None:
        return None if self._holds() else self


class _Sleepers:
    """Who sleeps on a futex. The scheduler ends a sleep without a reason, or when its time is over."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def wake(self, task: Task, *, woken: bool) -> None:
        """End one sleep. Of who was killed in its sleep nothing wakes."""
        self.tasks.remove(task)
        if task.op.kind == "killed":
            return
        task.woken = woken
        task.op = Op("woken")


class WeakRuntime(ControlledRuntime):
    """A controlled runtime in which stores wait in a buffer of their task.

    Args:
        scheduler: Of the runtime that the program was given.
        direct: Words, as (memory, place), whose stores are not of interest: they reach memory at once.
    """

    def __init__(self, scheduler: Scheduler, direct: Iterable[tuple[Words, int]] = ()) -> None:
        super().__init__(scheduler)
        self.buffers: dict[str, list[Store]] = {}
        self._direct = [(words.obj, place) for words, place in direct]

    def is_direct(self, words: Words, index: int) -> bool:
        """Return True for a word whose stores are not buffered."""
        return any(words.obj is memory and index == place for memory, place in self._direct)

    def load(self, words: Words, index: int) -> int:
        """See :class:`fdcomm.runtime.Runtime`. A task sees its own stores at once."""
        word = self._word(words, index)
        task = self.scheduler.step(Op("load", word))
        own = [] if task is None else [s for s in self.buffers.get(task.name, ()) if s[0] == word]
        value = own[-1][3] if own else words[index]
        if task is not None:
            self.scheduler.note(task, value)
            self.scheduler.use(word, task)
        return value

    def store(self, words: Words, index: int, value: int) -> None:
        """See :class:`fdcomm.runtime.Runtime`."""
        word = self._word(words, index)
        task = self.scheduler.step(Op("store", f"{word} = {value}"))
        if task is None or self.is_direct(words, index):
            words[index] = value
        else:
            self.buffers.setdefault(task.name, []).append((word, words, index, value))
            self._changed(task.name)
        if task is not None:
            self.scheduler.use(word, task)

    def is_drained(self, task: str) -> bool:
        """Return True when all stores of the task are in memory."""
        return not self.buffers.get(task)

    def flush(self, task: str) -> None:
        """The oldest store of the task reaches memory."""
        _, words, index, value = self.buffers[task].pop(0)
        words[index] = value
        self._changed(task)

    def memory_of(self, name: str) -> Callable[[], None]:
        """Return the body of a task that brings another one's stores to memory, each at any moment."""

        def is_over() -> bool:
            return all(task.done or task.op.kind == "killed" for task in self.scheduler._tasks if task.name == name)

        some = _When(f"stores of {name}", lambda: not self.is_drained(name) or is_over())

        def run() -> None:
            while True:
                self.scheduler.step(Op("acquire", f"a store of {name}", some))
                if self.is_drained(name):
                    return
                self.flush(name)

        return run

    def system_call(self, what: str, name: str = "", *others: str) -> Task | None:
        """Announce a system call: a full barrier of this task, and possible only when the others are drained too."""
        task = self.scheduler.current
        mine = () if task is None else (task.name,)
        drained = _When("stores under way", lambda: all(self.is_drained(name) for name in (*mine, *others)))
        return self.scheduler.step(Op("acquire", f"{what} {name}".strip(), drained))

    def _changed(self, task: str) -> None:
        # Part of the state: two states with different stores under way are different.
        stores = tuple((word, value) for word, _, _, value in self.buffers[task])
        self.scheduler.chains[f"stores of {task}"] = hash(stores)


class ControlledKernel:
    """Implements :class:`fdcomm.signals.kernel.Kernel` for one segment.

    Args:
        runtime: The memory.
        futex: The futex word, as (memory, place).
        setters: Names of the tasks that a barrier reaches.
    """

    def __init__(self, runtime: WeakRuntime, futex: tuple[Words, int], setters: Iterable[str] = ()) -> None:
        self.runtime = runtime
        self.setters = tuple(setters)
        self.tokens = 0
        self.locks: dict[int, dict[int, bool]] = {}
        self.owners: dict[int, str] = {}
        self._futex = futex
        self.sleepers = _Sleepers()

    def token(self) -> int:
        """Count. The scheduler runs one task at a time, so no number comes twice."""
        self.tokens += 1
        return self.tokens

    def sleep(self, address: int, token: int, timeout_s: float) -> None:
        """Compare, and go to sleep, in one step."""
        del address
        scheduler = self.runtime.scheduler
        task = self.runtime.system_call("futex wait", str(token))
        words, place = self._futex
        if task is None or words[place] != token:
            return
        self.sleepers.tasks.append(task)
        task.op = Op("waiting", "futex", self.sleepers, scheduler.clock + timeout_s)
        scheduler.switch(task)
        scheduler.note(task, "woken")

    def wake(self, address: int) -> int:
        """Wake all."""
        del address
        self.runtime.system_call("futex wake")
        asleep = list(self.sleepers.tasks)
        for task in asleep:
            self.sleepers.wake(task, woken=True)
        return len(asleep)

    def joins_barriers(self) -> bool:
        """The setters are known."""
        return True

    def barrier(self) -> bool:
        """Wait until the setters have nothing under way, one after the other."""
        for name in self.setters:
            self.runtime.system_call("barrier", f"reaches {name}", name)
        self.runtime.system_call("barrier", "ends")
        return True

    def fence(self) -> None:
        """Wait until this task has nothing under way."""
        self.runtime.system_call("fence")

    def order(self) -> None:
        """The buffers keep the order."""

    def take(self, fd: int, place: int, *, shared: bool) -> bool:
        """Take a lock for an open file description, as the kernel does."""
        task = self.runtime.system_call("take shared" if shared else "take", str(place))
        holders = self.locks.setdefault(place, {})
        others = [kind for owner, kind in holders.items() if owner != fd]
        free = not others or (shared and all(others))
        if free:
            holders[fd] = shared
        self._note(task, fd, place, free)
        return free

    def give(self, fd: int, place: int) -> None:
        """Give it back."""
        task = self.runtime.system_call("give", str(place))
        self.locks.setdefault(place, {}).pop(fd, None)
        self._note(task, fd, place, True)

    def free(self, name: str) -> None:
        """Give back what a dead task had."""
        for holders in self.locks.values():
            for fd in [fd for fd in holders if self.owners.get(fd) == name]:
                del holders[fd]

    def _note(self, task: Task | None, fd: int, place: int, done: bool) -> None:
        if task is not None:
            self.owners[fd] = task.name
            self.runtime.scheduler.note(task, done)
            self.runtime.scheduler.chains[f"lock {place}"] = hash(tuple(sorted(self.locks[place].items())))
