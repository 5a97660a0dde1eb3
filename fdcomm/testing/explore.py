"""Programs, and what is done with them: explore, replay, shrink."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from fdcomm.testing.controlled import ControlledRuntime
from fdcomm.testing.schedule import HOLDS, PRUNED, Bound, Constant, Outcome, Schedule
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.strategies import Exhaustive, Replay, Strategy
from fdcomm.testing.tasks import Pool

__all__ = ("Program", "Report", "Scenario", "explore", "replay", "shrink")

_ANYTHING = Bound(ticks=1_000_000, spurious=1_000_000)


@dataclass
class Scenario:
    """One fresh instance of a program.

    Args:
        tasks: Name -> function. An exception that leaves the function is a failure.
        invariant: Raises AssertionError when something is wrong. Called after every step; it may not block.
        final: The same, called once when every task has ended.
        close: Called at the end of each execution, however it ended.
    """

    tasks: Mapping[str, Callable[[], None]]
    invariant: Callable[[], None] | None = None
    final: Callable[[], None] | None = None
    close: Callable[[], None] | None = None


@dataclass(frozen=True)
class Program:
    """A concurrent program: ``build`` makes everything anew for each execution, under the runtime that it is given."""

    name: str
    build: Callable[[ControlledRuntime], Scenario]
    constants: Mapping[str, Constant] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What an exploration covered, and the first failure.

    ``complete`` means that every schedule within ``bound`` leads to a state that was explored, and none fails.
    ``cut`` counts the executions that ended early because what follows was known.
    """

    program: str
    bound: Bound
    executions: int
    steps: int
    cut: int
    states: int | None
    complete: bool
    failure: Schedule | None = None
    outcome: Outcome | None = None

    def __str__(self) -> str:
        covered = f"{self.executions} executions, {self.steps} steps, {self.bound}"
        if self.failure is None:
            return f"{self.program}: holds, {'complete' if self.complete else 'not complete'} ({covered})"
        lines = self.outcome.lines if self.outcome else ()
        return "\n".join((f"{self.program}: {self.failure.verdict}: {self.failure.message} ({covered})", *lines))


def explore(
    program: Program,
    strategy: Strategy,
    bound: Bound | None = None,
    *,
    executions: int | None = None,
    seconds: float | None = None,
) -> Report:
    """Run the program until the strategy is done, something fails, or a limit is reached (then it is not complete)."""
    bound = bound or Bound()
    ran = steps = cut = 0
    failed: Outcome | None = None
    end = None if seconds is None else time.monotonic() + seconds
    pool = Pool()
    try:
        while failed is None and (executions is None or ran < executions) and (end is None or time.monotonic() < end):
            if not strategy.begin():
                break
            outcome = _execute(program, strategy, bound, pool)
            strategy.end(outcome)
            ran += 1
            steps += len(outcome.choices)
            cut += outcome.verdict == PRUNED
            failed = outcome if outcome.failed else None
    finally:
        pool.close()
    return Report(
        program=program.name,
        bound=bound,
        executions=ran,
        steps=steps,
        cut=cut,
        states=strategy.states if isinstance(strategy, Exhaustive) else None,
        complete=strategy.complete and failed is None,
        failure=None if failed is None else _schedule(program, failed),
        outcome=failed,
    )


def replay(program: Program, schedule: Schedule, *, strict: bool = True) -> Outcome:
    """Run one schedule. With ``strict`` a choice that is not possible raises NondeterminismError."""
    pool = Pool()
    try:
        strategy = Replay(schedule.choices, strict=strict)
        outcome = _execute(program, strategy, _ANYTHING, pool)
        strategy.end(outcome)
    finally:
        pool.close()
    return outcome


def shrink(program: Program, schedule: Schedule) -> Schedule:
    """Return a schedule that fails in the same way with fewer preemptions, then fewer steps.

    Greedy: drops, moves or shortens one run of equal choices at a time for as long as that helps; the rest is replayed
    as far as it goes.
    """
    best = replay(program, schedule)
    improved = True
    while improved:
        improved = False
        for choices in _shorter(best.choices):
            outcome = replay(program, Schedule(program.name, choices, ""), strict=False)
            same = (outcome.verdict, outcome.message) == (schedule.verdict, schedule.message)
            if same and _cost(outcome) < _cost(best):
                best, improved = outcome, True
                break
    return _schedule(program, best)


def _shorter(choices: tuple[int, ...]) -> list[tuple[int, ...]]:
    starts = [n for n, choice in enumerate(choices) if n == 0 or choices[n - 1] != choice] + [len(choices)]
    runs = list(pairwise(starts))
    without_run = [choices[:a] + choices[b:] for a, b in runs]
    later = [choices[:a] + choices[b:c] + choices[a:b] + choices[c:] for (a, b), (_, c) in pairwise(runs)]
    shorter_run = [choices[: b - 1] + choices[b:] for a, b in runs if b - a > 1]
    return without_run + later + shorter_run


def _cost(outcome: Outcome) -> tuple[int, int, int]:
    switches = sum(a != b for a, b in pairwise(outcome.choices))
    return outcome.preemptions, switches, len(outcome.choices)


def _schedule(program: Program, outcome: Outcome) -> Schedule:
    return Schedule(program.name, outcome.choices, outcome.verdict, outcome.message, dict(program.constants))


def _execute(program: Program, strategy: Strategy, bound: Bound, pool: Pool) -> Outcome:
    scheduler = Scheduler(strategy.choose, bound, pool, strategy.histories, strategy.sharing, strategy.known)
    scenario = program.build(ControlledRuntime(scheduler))
    try:
        for name, target in scenario.tasks.items():
            scheduler.add(name, target)
        scheduler.invariant = scenario.invariant
        scheduler.run()
        if scheduler.verdict == HOLDS and scenario.final is not None:
            try:
                scenario.final()
            except AssertionError as error:
                scheduler.fail("invariant", f"at the end: {error}")
    finally:
        if scenario.close is not None:
            scenario.close()
    return scheduler.outcome()
