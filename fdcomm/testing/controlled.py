"""ControlledRuntime: threads, time and shared words under a :class:`~fdcomm.testing.scheduler.Scheduler`.

Outside of tasks (while a program is built, in its checks) every operation happens at once, and none may block.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fdcomm.runtime import Condition, Words
from fdcomm.testing.schedule import NondeterminismError
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.tasks import Mutex, Op, Task

__all__ = ("ControlledCondition", "ControlledRuntime", "ControlledThread")


class ControlledCondition:
    """A condition variable whose every operation is a scheduling point."""

    def __init__(self, scheduler: Scheduler, name: str, mutex: Mutex) -> None:
        self.name = name
        self.mutex = mutex
        self._scheduler = scheduler
        self._waiters: list[Task] = []

    @property
    def held(self) -> bool:
        """True while some task has the lock."""
        return self.mutex.owner is not None

    def __enter__(self) -> bool:
        task = self._scheduler.step(Op("acquire", self.mutex.name, self.mutex))
        if task is not None:
            self._scheduler.take(self.mutex, task)
        elif self.mutex.owner is not None:
            raise NondeterminismError(f"{self.mutex.name} is held by {self.mutex.owner.name}, and a check cannot wait")
        return True

    def __exit__(self, *exc: object) -> None:
        if self._scheduler.ended:  # the task is being unwound
            return
        task = self._scheduler.step(Op("release", self.mutex.name, self.mutex))
        if task is not None:
            self._require_owner(task)
            self._scheduler.leave(self.mutex, task)

    def wait(self, timeout: float | None = None) -> bool:
        """See :class:`fdcomm.runtime.Condition`. Waiters take the lock again in any order."""
        scheduler = self._scheduler
        task = scheduler.step(Op("wait", self.name, self))
        if task is None:
            raise NondeterminismError(f"{self.name}: only a task can wait")
        self._require_owner(task)
        scheduler.leave(self.mutex, task)
        if timeout is not None and timeout <= 0:
            self.wake(task, woken=False)
        else:
            self._waiters.append(task)
            task.op = Op("waiting", self.name, self, None if timeout is None else scheduler.clock + timeout)
        scheduler.switch(task)
        scheduler.take(self.mutex, task)
        scheduler.note(task, "woken", task.woken)
        return task.woken

    def notify_all(self) -> None:
        """See :class:`fdcomm.runtime.Condition`."""
        task = self._scheduler.step(Op("notify", self.name, self))
        if task is not None:
            self._require_owner(task)
        for waiter in list(self._waiters):
            self.wake(waiter, woken=True)

    def wake(self, task: Task, *, woken: bool) -> None:
        """Let the task leave its wait: it has to take the lock next. Who was killed in its wait never does."""
        if task in self._waiters:
            self._waiters.remove(task)
        if task.op.kind == "killed":
            return
        task.woken = woken
        task.op = Op("acquire", self.mutex.name, self.mutex)

    def _require_owner(self, task: Task) -> None:
        if self.mutex.owner is not task:
            raise RuntimeError(f"{task.name} uses {self.name} without having its lock")


class ControlledThread(threading.Thread):
    """Stands for a task that was spawned. The thread that carries it is the scheduler's."""

    def __init__(self, scheduler: Scheduler, task: Task) -> None:
        super().__init__(name=task.name, daemon=True)
        self._scheduler = scheduler
        self._task = task

    def join(self, timeout: float | None = None) -> None:
        """Wait until the task has ended."""
        until = None if timeout is None else self._scheduler.clock + timeout
        task = self._scheduler.step(Op("join", self._task.name, self._task, until))
        if task is not None:
            self._scheduler.note(task, self._task.done, self._task.history if self._task.done else 0)

    def is_alive(self) -> bool:
        """Return True until the task has ended."""
        task = self._scheduler.step(Op("look at", self._task.name, self._task))
        if task is not None:
            self._scheduler.note(task, self._task.done)
        return not self._task.done


class ControlledRuntime:
    """Implements :class:`fdcomm.runtime.Runtime`. Time is virtual, and the shared words are made by :meth:`words`."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self._made = 0
        self._conditions: list[ControlledCondition] = []

    def words(self, count: int) -> Words:
        """Return new shared words, all 0. Others cannot be used: the scheduler has to know what is shared."""
        block = bytearray(8 * count)
        self.scheduler.words.append(block)
        return memoryview(block).cast("q")

    def access(self, name: str, *, change: bool) -> None:
        """Announce that an object which several tasks share without a lock and without words is read or changed."""
        task = self.scheduler.step(Op("change" if change else "read", name))
        if task is not None:
            self.scheduler.touch(name, task, change=change)

    def kill(self, name: str) -> None:
        """Stop the task of this name for ever, as SIGKILL does to a process: what it holds stays held."""
        self.scheduler.step(Op("kill", name))
        self.scheduler.kill(name)

    def idle(self) -> bool:
        """Return True while no lock is held: what locks protect can be looked at."""
        return all(mutex.owner is None for mutex in self.scheduler.mutexes)

    # -- Runtime -------------------------------------------------------------------------------------------------

    def condition(self, partner: Condition | None = None) -> ControlledCondition:
        """See :class:`fdcomm.runtime.Runtime`."""
        name = self._name("condition")
        if isinstance(partner, ControlledCondition):
            return ControlledCondition(self.scheduler, name, partner.mutex)
        mutex = Mutex(f"lock of {name}")
        self.scheduler.mutexes.append(mutex)
        return ControlledCondition(self.scheduler, name, mutex)

    def monotonic(self) -> float:
        """Return the virtual time. Not a scheduling point: it changes only where a task waits."""
        task = self.scheduler.current
        if task is not None:
            self.scheduler.note(task, "time", self.scheduler.clock)
        return self.scheduler.clock

    def sleep(self, seconds: float) -> None:
        """See :class:`fdcomm.runtime.Runtime`."""
        self.scheduler.step(Op("sleep", f"{seconds:g} s", None, self.scheduler.clock + seconds))

    def spawn(self, target: Callable[[], None], name: str) -> threading.Thread:
        """See :class:`fdcomm.runtime.Runtime`."""
        parent = self.scheduler.step(Op("spawn", name))
        task = self.scheduler.add(name, target)
        if parent is not None:
            task.history = parent.history
        return ControlledThread(self.scheduler, task)

    def load(self, words: Words, index: int) -> int:
        """See :class:`fdcomm.runtime.Runtime`."""
        word = self._word(words, index)
        task = self.scheduler.step(Op("load", word))
        value = words[index]
        if task is not None:
            self.scheduler.note(task, value)
            self.scheduler.use(word, task)
        return value

    def store(self, words: Words, index: int, value: int) -> None:
        """See :class:`fdcomm.runtime.Runtime`."""
        word = self._word(words, index)
        task = self.scheduler.step(Op("store", f"{word} = {value}"))
        words[index] = value
        if task is not None:
            self.scheduler.use(word, task)

    def point(self, name: str) -> None:
        """See :class:`fdcomm.runtime.Runtime`."""
        self.scheduler.step(Op("point", name))

    # -- helpers -------------------------------------------------------------------------------------------------

    def _name(self, kind: str) -> str:
        """Return a name that does not depend on what other tasks have made."""
        task = self.scheduler.current
        if task is None:
            self._made += 1
            return f"{kind} {self._made}"
        task.children += 1
        return f"{kind} {task.name}.{task.children}"

    def _word(self, words: Any, index: int) -> str:
        """Return a name for the word. Two views of one block may give two words one name, which does no harm."""
        for number, block in enumerate(self.scheduler.words):
            if words.obj is block:
                return f"word {number}.{index}" if number else f"word {index}"
        raise NondeterminismError("shared words of a controlled program are made by ControlledRuntime.words()")
