"""V5: the host service's own threads, under every schedule of small programs and random ones of larger programs.

``states`` are states with a choice; ``edges`` are steps that were executed, repetitions included.
"""

from __future__ import annotations

from fdcomm.testing import Bound, Exhaustive, explore
from tests.schedules.known import BROKEN, FIXED
from tests.schedules.programs import LARGER, PROGRAMS, program
from tests.schedules.shipped_program import RACES, race
from tests.verify import cache_rows, race_rows, rows
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
    return found + [Check(*CELL, race_rows.race_name(name), _race, (name,)) for name in RACES]


def _exhaust(name: str) -> Row:
    return rows.schedules("dispatch", name, *{**PROGRAMS, **_LARGE}[name])


def _random(name: str, executions: int) -> Row:
    return rows.random_schedules("dispatch", name, LARGER[name], SEED, executions)


def _race(name: str) -> Row:
    return race_rows.explored("dispatch", race_rows.race_name(name), race, name, verdict=RACES[name][2])


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
