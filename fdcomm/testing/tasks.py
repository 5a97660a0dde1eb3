"""What the scheduler schedules: tasks, the operation that each is about to do, and the threads that carry them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

__all__ = ("Abandoned", "Mutex", "Op", "Pool", "Task")

_PATIENCE_S: Final = 1.0


class Abandoned(BaseException):
    """Unwinds a task whose execution is over. Not an Exception, so that no handler of the program takes it."""


class Mutex:
    """A lock. ``chain`` stands for everything that was done under it: see :class:`fdcomm.testing.sharing.Histories`."""

    __slots__ = ("chain", "name", "owner")

    def __init__(self, name: str) -> None:
        self.name = name
        self.owner: Task | None = None
        self.chain = 0


class Op(NamedTuple):
    """The operation that a task is about to do. ``until`` is the moment at which it can be done without its object."""

    kind: str
    name: str = ""
    target: Any = None
    until: float | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


class Task:
    """A task: a function in a thread of its own, which runs only while it holds the baton."""

    __slots__ = ("baton", "children", "done", "held", "history", "id", "ident", "name", "op", "target", "woken")

    def __init__(self, number: int, name: str, target: Callable[[], None]) -> None:
        self.id = number
        self.name = name
        self.target = target
        self.baton = threading.Lock()
        self.baton.acquire()
        self.op = Op("start", name)
        self.held: list[str] = []
        self.woken = False
        self.done = False
        self.history = 0
        self.children = 0
        self.ident = 0

    def enabled(self, clock: float) -> bool:
        """Return True if the task can do its operation now."""
        kind, _, target, until = self.op
        if kind == "acquire":
            return target.owner is None
        if kind in ("waiting", "ended", "killed"):
            return False
        if kind == "sleep":
            return until is not None and clock >= until
        if kind == "join":
            return target.done or (until is not None and clock >= until)
        return True


class _Worker(threading.Thread):
    def __init__(self, idle: list[_Worker]) -> None:
        super().__init__(name="fdcomm-task", daemon=True)
        self._go = threading.Lock()
        self._go.acquire()
        self._idle = idle
        self._job: Callable[[], None] | None = None
        self.start()

    def give(self, job: Callable[[], None] | None) -> None:
        self._job = job
        self._go.release()

    def run(self) -> None:
        while True:
            self._go.acquire()
            job = self._job
            if job is None:
                return
            job()
            self._job = job = None
            self._idle.append(self)


class Pool:
    """Threads that are used again by the next execution: making one costs more than most steps."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._all: list[_Worker] = []

    def run(self, job: Callable[[], None]) -> None:
        """Run the job in a thread."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker(self._idle)
            self._all.append(worker)
        worker.give(job)

    def close(self) -> None:
        """End the threads. One that is stuck in a job is left: it ends with its job, or with the process."""
        for worker in self._all:
            worker.give(None)
        for worker in self._all:
            worker.join(_PATIENCE_S)
