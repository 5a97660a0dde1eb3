"""V5: the host service's own threads, under every schedule of small programs and random ones of larger programs.

``states`` are states with a choice; ``edges`` are steps that were executed, repetitions included.
"""

from __future__ import annotations

from fdcomm.testing import PCT, Bound, Exhaustive, RandomWalk, Report, explore, replay
from tests.schedules.known import BROKEN, FIXED
from tests.schedules.programs import LARGER, PROGRAMS, program
from tests.schedules.shipped_program import RACES, race
from tests.verify import cache_rows
from tests.verify.check import Check, Row

__all__ = ("checks",)

CELL = ("dispatch", "V5")
SEED = 20_201
EXECUTIONS = {"small": 80, "large": 1500}

_LARGE = {
    "1 putter, 2 readers, 3 batches": (program("deliver", ranks=2, batches=3, depth=1), Bound()),
    "1 putter, 2 readers, 3 batches, depth 2": (program("deliver", ranks=2, batches=3, depth=2), Bound()),
    "1 putter, 2 readers, 2 batches, spurious": (program("deliver", ranks=2, batches=2, depth=1), Bound(spurious=1)),
    "2 putters, 1 reader, 2 spurious": (program("two putters", puts=1), Bound(spurious=2)),
}


def checks(protocol: str, size: str) -> list[Check]:
    """Return the checks of a protocol."""
    if protocol in cache_rows.PROTOCOLS:
        return cache_rows.v5(protocol, size)
    if protocol != CELL[0]:
        return []
    found = [Check(*CELL, "the scheduler finds known bugs, and exhausts their fixed twins", _known)]
    found += [
        Check(*CELL, name, _exhaust, (name,)) for name in (PROGRAMS if size == "small" else {**PROGRAMS, **_LARGE})
    ]
    found += [Check(*CELL, f"{name}, random schedules", _random, (name, EXECUTIONS[size])) for name in LARGER]
    found += [
        Check(*CELL, f"race {name}: found on the published steps, none on ours", _race, (name,)) for name in RACES
    ]
    return found


def _exhaust(name: str) -> Row:
    scenario, bound = {**PROGRAMS, **_LARGE}[name]
    report = explore(scenario, Exhaustive(), bound)
    return Row(
        *CELL,
        name,
        ok=report.complete and report.failure is None,
        states=report.states,
        edges=report.steps,
        bounds=str(bound),
        detail=_detail(report),
    )


def _random(name: str, executions: int) -> Row:
    bound = Bound(ticks=2, spurious=2)
    reports = [explore(LARGER[name], strategy(SEED, executions), bound) for strategy in (RandomWalk, PCT)]
    failed = next((report for report in reports if report.failure is not None), None)
    return Row(
        *CELL,
        f"{name}, random schedules",
        ok=failed is None,
        edges=sum(report.steps for report in reports),
        bounds=f"{sum(report.executions for report in reports)} executions, seed {SEED}, {bound}",
        detail=_detail(failed) if failed else "not complete: uniform choices, and random priorities (PCT)",
    )


def _race(name: str) -> Row:
    what = f"race {name}: found on the published steps, none on ours"
    program_of_race = race(name, shipped=True)
    shipped, ours = explore(program_of_race, Exhaustive()), explore(race(name, shipped=False), Exhaustive())
    wrong = ""
    if shipped.failure is None or shipped.failure.verdict != RACES[name][2]:
        wrong = f"the published steps do not fail as they should: {shipped}"
    elif replay(program_of_race, shipped.failure).message != shipped.failure.message:
        wrong = "the schedule does not fail again when it is replayed"
    elif not ours.complete or ours.failure is not None:
        wrong = _detail(ours)
    return Row(
        *CELL,
        what,
        ok=not wrong,
        states=ours.states,
        edges=ours.steps,
        bounds=str(ours.bound),
        detail=wrong
        or f"published: {shipped.failure.verdict if shipped.failure else ''} in {shipped.executions} "
        f"executions; ours: {_detail(ours)}",
    )


def _known() -> Row:
    bound = Bound(ticks=1, spurious=1)
    missed = []
    steps = 0
    for name, (broken, verdict) in BROKEN.items():
        report = explore(broken, Exhaustive(), bound)
        steps += report.steps
        if report.failure is None or report.failure.verdict != verdict:
            missed.append(name)
    for name, fixed in FIXED.items():
        report = explore(fixed, Exhaustive(), bound)
        steps += report.steps
        if not report.complete:
            missed.append(name)
    return Row(
        *CELL,
        "the scheduler finds known bugs, and exhausts their fixed twins",
        ok=not missed,
        edges=steps,
        bounds=str(bound),
        detail=f"wrong about {', '.join(missed)}" if missed else f"{len(BROKEN)} bugs found, {len(FIXED)} twins hold",
    )


def _detail(report: Report) -> str:
    if report.failure is not None:
        return f"{report.failure.verdict}: {report.failure.message}; schedule {list(report.failure.choices)}"
    return f"{'complete' if report.complete else 'NOT complete'} in {report.executions} executions"
