"""Races of transfer tasks: the published steps, and ours, in one program each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import HostLostError
from fdcomm.testing import Bound, ControlledRuntime, Exhaustive, Program, RandomWalk, Report, Scenario, explore
from tests.schedules.transfer_overdue import overdue_ours, overdue_shipped
from tests.schedules.transfer_programs import looping
from tests.schedules.transfer_testbed import LoopBed

__all__ = ("OURS", "RACES", "SHIPPED", "explored", "race")

SHIPPED = Bound(preemptions=2, max_steps=600)
OURS = Bound(ticks=1)
_RANDOM = 30  # executions: the loops of ours have too many schedules
_SEED = 20_308
_Build = Callable[[ControlledRuntime], Scenario]


class Group:
    """What the published loops of a group share: queue, bits, flag, results, and barriers."""

    def __init__(self, runtime: ControlledRuntime, ranks: int) -> None:
        self.changed = runtime.condition()
        self.ranks = ranks
        self.queue: list[str] = []
        self.mask: set[int] = set()
        self.flag = False
        self.told = [False] * ranks
        self.inflight = [0] * ranks
        self.done: list[str] = []
        self._arrived: dict[str, int] = {}

    def meet(self, barrier: str) -> None:
        """Wait until all ranks have come to the barrier."""
        with self.changed:
            self._arrived[barrier] = count = self._arrived.get(barrier, 0) + 1
            turn = (count - 1) // self.ranks + 1
            self.changed.notify_all()
            while self._arrived[barrier] < turn * self.ranks:
                self.changed.wait()

    def put(self, task: str) -> None:
        """Queue a task."""
        with self.changed:
            self.queue.append(task)
            self.changed.notify_all()

    def get(self, rank: int) -> str | None:
        """Take the oldest task, if this rank has not taken it."""
        with self.changed:
            if not self.queue or rank in self.mask:
                return None
            task = self.queue[0]
            self.mask.add(rank)
            if len(self.mask) == self.ranks:
                self.mask.clear()
                self.queue.pop(0)
                self.flag = False
            return task

    def tell(self, rank: int, paused: bool) -> None:
        """The process of a rank is told to pause, or to go on."""
        with self.changed:
            self.told[rank] = paused
            self.changed.notify_all()

    def post(self, task: str) -> None:
        """Post a result."""
        with self.changed:
            self.done.append(task)
            self.changed.notify_all()

    def result(self) -> None:
        """Wait for a result."""
        with self.changed:
            while not self.done:
                self.changed.wait()


# -- P4.1: the transfer of one rank raises -------------------------------------------------------------------------


def _raises_shipped(runtime: ControlledRuntime) -> Scenario:
    group = Group(runtime, 2)

    def pool(rank: int) -> None:
        group.meet("first")
        if rank == 1:
            return  # the error goes out of the thread
        group.meet("second")
        group.post("task")

    return Scenario({"client": group.result, **{f"pool {r}": partial(pool, r) for r in range(2)}})


# -- P5.5: a task is read while it is paused -----------------------------------------------------------------------


def _dropped_shipped(runtime: ControlledRuntime) -> Scenario:
    group = Group(runtime, 1)

    def rank() -> None:
        for _ in range(2):
            with group.changed:
                paused = group.told[0]
            task = group.get(0)
            if task is not None and not paused:
                group.post(task)

    def client() -> None:
        group.tell(0, True)
        group.put("task")
        group.tell(0, False)

    def last_round() -> None:
        """The loop goes on for ever; here it has one round after everything else."""
        client()
        rank()
        group.result()

    return Scenario({"rank": rank, "client": last_round})


def _dropped_ours(runtime: ControlledRuntime) -> Scenario:
    bed = LoopBed(runtime, 1, lambda rank, task: rank)

    def client() -> None:
        pause = bed.api.pause(timeout=None)
        bed.tasks.issue("task", "a")
        bed.api.resume(pause, timeout=None)
        bed.result()

    def final() -> None:
        assert bed.told == [(1, "ok", ())], f"told {bed.told}"

    return bed.scenario({"client": client, "rank": partial(bed.run, 0, 1)}, final)


# -- P5.7: an error that only one rank meets -----------------------------------------------------------------------


def _error_shipped(runtime: ControlledRuntime) -> Scenario:
    group = Group(runtime, 2)
    group.put("task")

    def rank(number: int) -> None:
        failed = False
        for _ in range(2):
            group.meet("barrier0")
            if number == 0:
                group.flag = bool(group.queue)
            group.meet("barrier1")
            if number == 1 and not failed:
                failed = True
                continue  # the error is caught at the top of the loop
            if group.flag and group.get(number) is not None:
                group.meet("barrier3")
            else:
                group.meet("barrier2")

    return Scenario({f"rank {r}": partial(rank, r) for r in range(2)})


class _FailsOnce:
    """A pause control whose first admission raises."""

    def __init__(self, control: Any) -> None:
        self._control = control
        self._failed = False

    def admit(self, **options: Any) -> Any:
        """Admit, but for the first time."""
        if not self._failed:
            self._failed = True
            raise HostLostError("the connection broke")
        return self._control.admit(**options)


def _error_ours(runtime: ControlledRuntime) -> Scenario:
    bed = LoopBed(runtime, 2, lambda rank, task: rank)
    control: Any = _FailsOnce(bed.controls[1])
    bed.loops[1]._control = control
    met: list[str] = []

    def rank1() -> None:
        try:
            bed.loops[1].run(lambda: bed.is_told())
        except HostLostError:
            met.append("error")
        bed.run(1, 1)

    def client() -> None:
        bed.tasks.issue("task", "a")
        bed.result()

    def final() -> None:
        assert (bed.told, met) == ([(1, "ok", ())], ["error"]), f"told {bed.told}, {met}"

    return bed.scenario({"client": client, "rank 0": partial(bed.run, 0, 1), "rank 1": rank1}, final)


# -- B10: each rank looks at its own pause -------------------------------------------------------------------------


def _half_shipped(runtime: ControlledRuntime) -> Scenario:
    group = Group(runtime, 2)
    group.put("task")

    def rank(number: int) -> None:
        with group.changed:
            while group.told[number]:
                group.changed.wait()
            group.inflight[number] += 1
        group.get(number)
        with group.changed:
            group.inflight[number] -= 1
            group.changed.notify_all()

    def pauser() -> None:
        for number in range(2):
            group.tell(number, True)
        with group.changed:
            while any(group.inflight):
                group.changed.wait()
            assert not group.mask, f"a pause was reached in the middle of a task that rank {group.mask} has read"
        for number in range(2):
            group.tell(number, False)

    return Scenario({"pauser": pauser, **{f"rank {r}": partial(rank, r) for r in range(2)}})


RACES: dict[str, tuple[_Build, _Build, str]] = {
    "P4.1": (_raises_shipped, partial(looping, ranks=2, count=2, pauses=False, fails=1), "deadlock"),
    "P5.5": (_dropped_shipped, _dropped_ours, "deadlock"),
    "P5.7": (_error_shipped, _error_ours, "deadlock"),
    "overdue-target": (overdue_shipped, overdue_ours, "a block was given out while a copy writes to it"),
    "B10": (
        _half_shipped,
        partial(looping, ranks=2, count=2, pauses=True),
        "a pause was reached in the middle of",
    ),
}
"""Race -> the program on the published steps, on ours, and what goes wrong on the first."""


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""
    published, ours, _ = RACES[name]
    return Program(f"{name}, {'shipped' if shipped else 'ours'}", published if shipped else ours, {})


def explored(name: str, *, shipped: bool) -> Report:
    """Run the race's program: every schedule within the bound on the published steps, random ones on ours."""
    program = race(name, shipped=shipped)
    return explore(program, Exhaustive(), SHIPPED) if shipped else explore(program, RandomWalk(_SEED, _RANDOM), OURS)
