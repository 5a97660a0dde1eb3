"""Hypothesis as the scheduler: a list of numbers is a schedule, and 0 is "the current task goes on"."""

from __future__ import annotations

from hypothesis import find, given, settings
from hypothesis import strategies as st

from fdcomm.testing import Bound, Indexed, Program, Report, explore
from tests.schedules.known import BROKEN, FIXED
from tests.schedules.programs import program

_SCHEDULES = st.lists(st.integers(0, 5), max_size=80)
_BOUND = Bound(ticks=1, spurious=1)


def _under(scenario: Program, indices: list[int]) -> Report:
    return explore(scenario, Indexed(indices), _BOUND)


def test_hypothesis_finds_and_shrinks_a_schedule() -> None:
    broken, verdict = BROKEN["pause, gate outside"]
    smallest = find(_SCHEDULES, lambda indices: _under(broken, indices).failure is not None)
    report = _under(broken, smallest)
    assert report.failure is not None
    assert report.failure.verdict == verdict
    assert sum(index > 0 for index in smallest) <= 3, f"{smallest}: more turns than the race needs\n{report}"


@given(_SCHEDULES)
def test_a_fixed_twin_holds(indices: list[int]) -> None:
    report = _under(FIXED["pause, gate inside"], indices)
    assert report.failure is None, str(report)


@settings(max_examples=100)
@given(_SCHEDULES, st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))
def test_the_service_holds(indices: list[int], ranks: int, batches: int, depth: int) -> None:
    report = _under(program("deliver", ranks=ranks, batches=batches, depth=depth), indices)
    assert report.failure is None, str(report)
