"""The blocks protocol as ``spec/blocks.toml`` has it: free lists, tasks in flight, and resets.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from models import blocks_properties as properties
from models.blocks_state import SERVING, Config, Guards, Lease, State, Task, in_flight, initial_state
from models.kernel import Action, Model, Step, each, once, replaced

__all__ = ("Blocks", "Config", "Guards", "Lease", "State", "Task")

Steps: TypeAlias = Iterator[Step[State]]


class Blocks(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("blocks")
        self.actions = {
            "Allocate": self.allocate,
            "Free": self.free,
            "FreeStale": self.free_stale,
            "Reserve": self.reserve,
            "Accept": lambda s: self._each(s, "Accept", _from("issuing", "queued")),
            "Register": lambda s: self._each(s, "Register", _register),
            "Refuse": lambda s: self._each(s, "Refuse", _refuse) if self.config.refuses else iter(()),
            "Withdraw": self.withdraw,
            "Pull": lambda s: self._each(s, "Pull", _from("queued", "taken", at=True)),
            "Succeed": lambda s: self._each(s, "Succeed", _from("taken", "posted", "ok")),
            "Fail": lambda s: self._each(s, "Fail", _from("taken", "posted", "failed")),
            "Overrun": self.overrun,
            "Quiet": lambda s: self._each(s, "Quiet", _quiet),
            "Receive": lambda s: self._each(s, "Receive", _receive),
            "Handle": self.handle,
            "Settle": lambda s: self._each(s, "Settle", self._settle),
            "Cancel": self.cancel,
            "BeginReset": lambda s: once("BeginReset", self._begin_reset, s),
            "Rebuild": lambda s: once("Rebuild", self._rebuild, s),
            "Lose": lambda s: once("Lose", self._end(self.config.mortal, "lost"), s),
            "Close": lambda s: once("Close", self._end(self.config.closes, "closed"), s),
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Every block is free."""
        return (initial_state(self.config),)

    # -- the lists -----------------------------------------------------------------------------------------------

    def allocate(self, s: State) -> Steps:
        """Somebody gets the lowest free blocks of a kind."""
        for kind in (0, 1) if s.phase == "open" else ():
            here = sorted(s.free & set(self.config.of_kind(kind)))
            for n in sorted(self.config.sizes):
                if n <= len(here):
                    ids = frozenset(here[:n])
                    after = s._replace(free=s.free - ids, leases=s.leases | {Lease(ids, s.gen)})
                    yield Action("Allocate", (("kind", kind), ("n", n))), after

    def free(self, s: State) -> Steps:
        """Who has blocks gives them back."""
        for block in self.config.blocks:
            if lease := _lease(s, block, s.gen):
                yield _of("Free", "block", block), s._replace(free=s.free | lease.ids, leases=s.leases - {lease})

    def free_stale(self, s: State) -> Steps:
        """Who had blocks before a reset wants to give them back."""
        for block in self.config.blocks:
            for gen in range(s.gen):
                if lease := _lease(s, block, gen):
                    free = s.free if self.guards.LeasesEnd else s.free | lease.ids
                    label = Action("FreeStale", (("block", block), ("gen", gen)))
                    yield label, s._replace(free=free, leases=s.leases - {lease})

    # -- issuing -------------------------------------------------------------------------------------------------

    def reserve(self, s: State) -> Steps:
        """Blocks become a task's, before the port has it."""
        most = self.config.max_tasks
        if s.phase != "open" or (most is not None and len(s.tasks) >= most):
            return
        for source in self.config.blocks:
            mine = _lease(s, source, s.gen)
            for target in (-1, *self.config.blocks) if mine is not None else ():
                other = _lease(s, target, s.gen)
                if source == target or (other is None and (target != -1 or not self.config.in_place)):
                    continue
                assert mine is not None
                task = Task(mine.ids, other.ids if other else frozenset())
                label = Action("Reserve", (("source", source), ("target", target)))
                yield label, s._replace(leases=s.leases - {mine, other}, tasks=(*s.tasks, task))

    # -- the port, and the receiver ------------------------------------------------------------------------------

    def withdraw(self, s: State) -> Steps:
        """What was not taken is not done."""
        if self.guards.Withdraws:
            yield from self._each(s, "Withdraw", _from("queued", "posted", "cancelled"))

    def overrun(self, s: State) -> Steps:
        """A task has failed, and ranks are at it still."""
        if self.config.overruns:
            yield from self._each(s, "Overrun", _from("taken", "posted", "failed", at=True))

    def handle(self, s: State) -> Steps:
        """The receiver handles the result that it has."""
        if s.hand and s.alive and s.phase in SERVING:
            task, label = s.tasks[s.hand - 1], _of("Handle", "task", s.hand)
            if not self.guards.SurvivesBad and s.hand in self.config.bad:
                yield label, s._replace(alive=False)
            elif task.known:
                yield label, self._given(s, s.hand)._replace(hand=0)
            elif not self.guards.KeepsUnknown:
                yield label, s._replace(hand=0)

    def _given(self, s: State, number: int) -> State:
        """The result is handled: blocks are free, but what whoever waits gets, and what ranks may write to."""
        task = s.tasks[number - 1]
        late = self.guards.HoldsLate and task.late
        after = _with(s, number, task._replace(stage="late" if late else "done", told=task.told or task.out))
        left = task.held - task.written if late else task.held
        if task.told:
            return after._replace(free=s.free | left)
        mine = left & (task.target if task.target and task.out == "ok" else task.source)
        leases = s.leases | ({Lease(mine, s.gen)} if mine else set())
        return after._replace(free=s.free | (left - mine), leases=leases)

    def _settle(self, s: State, number: int) -> State | None:
        """The receiver is told that no rank is at a task any more."""
        task = s.tasks[number - 1]
        stages = ("late",) if self.guards.SettlesOnce else ("late", "done")
        if not s.alive or s.hand or s.phase not in SERVING or not task.late or task.at or task.stage not in stages:
            return None
        return _with(s, number, task._replace(stage="done"))._replace(free=s.free | task.written)

    # -- who waits, and the ends ---------------------------------------------------------------------------------

    def cancel(self, s: State) -> Steps:
        """Who waits gives up; the task goes on."""

        def step(s: State, number: int) -> State | None:
            task = s.tasks[number - 1]
            if task.told or not in_flight(task):
                return None
            after = _with(s, number, task._replace(told="cancelled"))
            return after if self.guards.KeepsUntilResult else after._replace(free=s.free | task.held)

        if self.config.cancels:
            yield from self._each(s, "Cancel", step)

    def _begin_reset(self, s: State) -> State | None:
        most = self.config.max_gen
        if s.phase != "open" or (most is not None and s.gen >= most):
            return None
        return s._replace(phase="resetting", tasks=_told(s, "cancelled") if self.guards.TellsWaiters else s.tasks)

    def _counts(self, task: Task) -> bool:
        """Does a reset wait for it?"""
        guards = self.guards
        passed = {"hand": not guards.AwaitsHandled, "issuing": not guards.CountsIssuing, "late": not guards.AwaitsLate}
        return guards.AwaitsResults and in_flight(task) and not passed.get(task.stage, False)

    def _rebuild(self, s: State) -> State | None:
        if s.phase != "resetting" or any(map(self._counts, s.tasks)):
            return None
        return s._replace(phase="open", gen=s.gen + 1, free=frozenset(self.config.blocks))

    def _end(self, may: bool, word: str) -> Callable[[State], State | None]:
        def step(s: State) -> State | None:
            if not may or s.phase not in SERVING:
                return None
            return s._replace(phase=word, tasks=_told(s, word) if self.guards.EndTells else s.tasks)

        return step

    @staticmethod
    def _each(s: State, name: str, step: Callable[[State, int], State | None]) -> Steps:
        return each(name, "task", range(1, len(s.tasks) + 1), step, s)


def _of(name: str, key: str, number: int) -> Action:
    return Action(name, ((key, number),))


def _lease(s: State, block: int, gen: int) -> Lease | None:
    return next((lease for lease in s.leases if lease.gen == gen and min(lease.ids) == block), None)


def _with(s: State, number: int, task: Task) -> State:
    return s._replace(tasks=replaced(s.tasks, number - 1, task))


def _from(stage: str, then: str, out: str = "", *, at: bool = False) -> Callable[[State, int], State | None]:
    def step(s: State, number: int) -> State | None:
        task = s.tasks[number - 1]
        return _with(s, number, task._replace(stage=then, out=out, at=at)) if task.stage == stage else None

    return step


def _register(s: State, number: int) -> State | None:
    task = s.tasks[number - 1]
    if task.known or task.stage in ("issuing", "refused"):
        return None
    return _with(s, number, task._replace(known=True))


def _refuse(s: State, number: int) -> State | None:
    task = s.tasks[number - 1]
    if task.stage != "issuing":
        return None
    after = _with(s, number, task._replace(stage="refused", told=task.told or "refused"))
    if task.told:
        return after._replace(free=s.free | task.held)
    return after._replace(leases=s.leases | {Lease(ids, s.gen) for ids in (task.source, task.target) if ids})


def _receive(s: State, number: int) -> State | None:
    task = s.tasks[number - 1]
    if not s.alive or s.hand or s.phase not in SERVING or task.stage != "posted":
        return None
    return _with(s, number, task._replace(stage="hand", late=task.at))._replace(hand=number)


def _quiet(s: State, number: int) -> State | None:
    task = s.tasks[number - 1]
    return _with(s, number, task._replace(at=False)) if task.at and task.stage != "taken" else None


def _told(s: State, word: str) -> tuple[Task, ...]:
    return tuple(task if task.told else task._replace(told=word) for task in s.tasks)
