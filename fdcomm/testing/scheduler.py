"""One controlled execution: real threads that pass a baton, so that exactly one runs and each step is a choice.

Before each operation (lock, wait, notify, load, store, sleep, spawn, join, point) a task announces it and the
scheduler chooses who goes on. Code between two operations is one step, together with the operation before it.
"""

from __future__ import annotations

import contextlib
import threading
import traceback
from collections.abc import Callable, Hashable
from math import inf, nextafter
from typing import Final

from fdcomm.testing.explain import waits_for, where
from fdcomm.testing.schedule import HOLDS, PRUNED, TICK, Bound, NondeterminismError, Outcome, wake
from fdcomm.testing.sharing import Histories, Sharing
from fdcomm.testing.tasks import Abandoned, Mutex, Op, Pool, Task

__all__ = ("Chooser", "Scheduler")

_START_S: Final = 1000.0

Chooser = Callable[["Scheduler"], "int | None"]
"""Picks one of ``scheduler.options``; None ends the execution, because what follows is known already."""


class Scheduler:
    """The state of one execution. ``options[0]`` is the default: the current task goes on if it can."""

    def __init__(
        self,
        chooser: Chooser,
        bound: Bound,
        pool: Pool,
        histories: Histories | None = None,
        sharing: Sharing | None = None,
        known: int = 0,
    ) -> None:
        self.bound = bound
        self.clock = _START_S
        self.current: Task | None = None
        self.ended = False
        self.options: tuple[int, ...] = ()
        self.invariant: Callable[[], None] | None = None
        self.choices: list[int] = []
        self.preemptions = self.ticks = self.wakes = 0
        self.mutexes: list[Mutex] = []
        self.chains: dict[str, int] = {}
        self.words: list[bytearray] = []
        self._chooser = chooser
        self._pool = pool
        self._histories = histories
        self._sharing = sharing
        self._known = known  # steps that repeat an earlier execution, whose states need no second check
        self._tasks: list[Task] = []
        self._last: Task | None = None
        self._did: list[tuple[str, object]] = []
        self.verdict, self._message = HOLDS, ""
        self._crash: BaseException | None = None
        self._over = threading.Lock()
        self._over.acquire()

    def add(self, name: str, target: Callable[[], None]) -> Task:
        """Add a task. It starts when it is chosen for the first time."""
        task = Task(len(self._tasks), name, target)
        self._tasks.append(task)
        self._pool.run(lambda: self._carry(task))
        return task

    def run(self) -> None:
        """Run to the end of the execution, and unwind the tasks that have not ended by themselves."""
        self._pass_on(self._next())
        if not self._over.acquire(timeout=self.bound.watchdog_s):
            place, self.ended = where(self._tasks), True
            for task in self._tasks:
                task.baton.release()  # whoever is not stuck unwinds
            raise NondeterminismError(f"a task waits for something that the runtime does not control; {place}")
        self._unwind()
        if self._crash is not None:
            raise self._crash

    def fail(self, verdict: str, message: str) -> None:
        if self.verdict == HOLDS:
            self.verdict, self._message = verdict, message

    def outcome(self) -> Outcome:
        """Return what happened. The lines are made only when something is wrong."""
        lines: tuple[str, ...] = ()
        if self.verdict not in (HOLDS, PRUNED):
            lines = tuple(f"{n:4} {name:12} {what}" for n, (name, what) in enumerate(self._did, 1))
        return Outcome(self.verdict, self._message, tuple(self.choices), self.preemptions, lines)

    # -- for the runtime -----------------------------------------------------------------------------------------

    def step(self, op: Op) -> Task | None:
        """Wait until the current task may do ``op``. Returns None outside of tasks (set-up, checks): do it at once."""
        if self.ended:
            raise Abandoned
        task = self.current
        if task is None:
            return None
        if threading.get_ident() != task.ident:
            raise NondeterminismError(f"{op} by a thread that the scheduler does not know: start it with spawn()")
        task.op = op
        self.switch(task)
        self.note(task, op.kind, op.name)
        return task

    def switch(self, task: Task) -> None:
        """Let the scheduler choose; return when ``task`` is chosen."""
        chosen = self._next()
        if chosen is not task:
            self._pass_on(chosen)
            task.baton.acquire()
        if self.ended:
            raise Abandoned

    def note(self, task: Task, *result: Hashable) -> None:
        """Add the result of an operation to the task's history."""
        if self._histories is not None:
            task.history = self._histories.number((task.history, *result))

    def take(self, mutex: Mutex, task: Task) -> None:
        """Give the lock to the task."""
        mutex.owner = task
        task.held.append(mutex.name)
        self.note(task, "took", mutex.name, mutex.chain)

    def leave(self, mutex: Mutex, task: Task) -> None:
        """Take the lock back."""
        mutex.owner = None
        task.held.remove(mutex.name)
        if self._histories is not None:
            mutex.chain = self._histories.number((mutex.chain, task.history))

    def use(self, word: str, task: Task) -> None:
        """Note a load or store of a shared word."""
        if self._sharing is not None:
            self._sharing.use(word, task.held)

    def touch(self, name: str, task: Task, *, change: bool) -> None:
        """Note an access to an object that several tasks use without a lock."""
        self.note(task, self.chains.get(name, 0))
        if change:
            self.chains[name] = task.history
            if self._sharing is not None:
                self._sharing.change(name)

    def kill(self, name: str) -> None:
        """Stop the task for ever where it is, with what it holds. A task that has ended stays as it is."""
        if self._sharing is not None:
            self._sharing.change(f"task {name}")
        for task in self._tasks:
            if task.name == name and not task.done:
                task.op = Op("killed", f"before {task.op}")

    # -- for strategies ------------------------------------------------------------------------------------------

    def key(self) -> Hashable:
        """Return the state, exactly: equal keys have equal futures (under equal bounds, see :attr:`spent`)."""
        return (
            self.clock,
            self._last.id if self._last is not None and self.bound.preemptions is not None else None,
            tuple((t.history, t.op.kind, t.op.name, t.op.until, t.woken, t.done) for t in self._tasks),
            frozenset((m.name, m.chain, m.owner.id if m.owner else None) for m in self.mutexes),
            frozenset(self.chains.items()),
            tuple(bytes(block) for block in self.words),
        )

    @property
    def spent(self) -> tuple[int, int, int]:
        """How much of each bound has been used."""
        return (0 if self.bound.preemptions is None else self.preemptions, self.ticks, self.wakes)

    def fingerprint(self) -> Hashable:
        """Return what a repetition under the same choices must show at this step."""
        return (self.options, tuple((t.op.kind, t.op.name) for t in self._tasks))

    def local(self) -> int | None:
        """Return a task whose next operation nothing that others can do before it depends on, or None.

        Whoever goes on first, the result is the same, so the other orders need not be tried. Under a bound of
        preemptions only the current task qualifies: it would go on for free.
        """
        if self._sharing is None or self.ticks < self.bound.ticks:  # the step after any operation may read the clock
            return None
        sharing, spurious = self._sharing, self.wakes < self.bound.spurious
        tasks = self._tasks if self.bound.preemptions is None else [self._last]
        return next((t.id for t in tasks if t is not None and sharing.is_local(t, spurious=spurious)), None)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _unwind(self) -> None:
        """End the tasks that are in the middle of something, one after the other. Their locks are forgotten."""
        self.ended = True
        for task in self._tasks:
            if not task.done:
                task.baton.release()
                if not self._over.acquire(timeout=self.bound.watchdog_s):
                    raise NondeterminismError(f"{task.name} does not unwind; {where(self._tasks)}")
        self.ended = False
        self.current = None
        for mutex in self.mutexes:
            mutex.owner = None

    def _carry(self, task: Task) -> None:
        """Body of a task's thread."""
        task.baton.acquire()
        task.ident = threading.get_ident()
        try:
            with contextlib.suppress(Abandoned):
                if not self.ended:
                    task.target()
        except BaseException as error:  # noqa: BLE001 - it is the program's failure, and is reported as that
            if not self.ended:
                where = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
                self.fail("error", f"{task.name}: {type(error).__name__}: {error} ({place})")
        task.done = True
        if self.ended:
            with contextlib.suppress(RuntimeError):  # when it was stuck, nobody waits for this any more
                self._over.release()
        else:
            task.op = Op("ended")
            self._pass_on(self._next())

    def _pass_on(self, chosen: Task | None) -> None:
        if chosen is None:
            self._over.release()
        else:
            chosen.baton.release()

    def _next(self) -> Task | None:
        try:
            chosen = self._choose()
        except BaseException as error:  # noqa: BLE001 - raised again by run()
            self._crash = error
            chosen = None
        self.current = chosen
        return chosen

    def _choose(self) -> Task | None:
        if self.verdict == HOLDS and self.invariant is not None and len(self.choices) >= self._known:
            self._check(self.invariant)
        while self.verdict == HOLDS:
            self.options = self._options()
            if not self.options:
                stuck = [task for task in self._tasks if not task.done and task.op.kind != "killed"]
                if stuck:
                    self.fail("deadlock", "; ".join(map(waits_for, stuck)))
                return None
            if len(self.choices) >= self.bound.max_steps:
                self.fail("livelock", f"no end after {self.bound.max_steps} steps; {where(self._tasks)}")
                return None
            choice = self._chooser(self)
            if choice is None:
                self.verdict = PRUNED
                return None
            if choice not in self.options:
                raise NondeterminismError(f"step {len(self.choices) + 1}: {choice} is not one of {self.options}")
            task = self._apply(choice)
            if task is not None:
                return task
        return None

    def _check(self, invariant: Callable[[], None]) -> None:
        self.current = None
        try:
            invariant()
        except AssertionError as error:
            self.fail("invariant", str(error))

    def _options(self) -> tuple[int, ...]:
        bound, last = self.bound, self._last
        enabled, timers = [], False
        for task in self._tasks:
            if task.enabled(self.clock):
                enabled.append(task.id)
            elif task.op.until is not None:
                timers = True
        if last is not None and last.id in enabled:
            if bound.preemptions is None or self.preemptions < bound.preemptions:
                enabled.remove(last.id)
                enabled.insert(0, last.id)
            else:
                enabled = [last.id]
        if timers and (not enabled or self.ticks < bound.ticks):
            enabled.append(TICK)
        if enabled and self.wakes < bound.spurious:
            enabled += [wake(task.id) for task in self._tasks if task.op.kind == "waiting"]
        return tuple(enabled)

    def _apply(self, choice: int) -> Task | None:
        self.choices.append(choice)
        if choice >= 0:
            task = self._tasks[choice]
            last = self._last
            if last is not None and task is not last and last.enabled(self.clock):
                self.preemptions += 1
            self._last = task
            self._did.append((task.name, task.op))
            return task
        if choice == TICK:
            self.ticks += any(task.enabled(self.clock) for task in self._tasks)
            self.clock = max(
                nextafter(self.clock, inf),
                min(t.op.until for t in self._tasks if t.op.until is not None and not t.enabled(self.clock)),
            )
            self._did.append(("(time)", f"passes until {self.clock - _START_S:g} s"))
            for task in self._tasks:
                if task.op.kind == "waiting" and task.op.until is not None and task.op.until <= self.clock:
                    task.op.target.wake(task, woken=False)
            return None
        task = self._tasks[-2 - choice]
        self.wakes += 1
        self._did.append((task.name, f"wakes without a reason from {task.op}"))
        task.op.target.wake(task, woken=True)
        return None
