"""Every schedule of small programs over typed access, on memory with store buffers; what has no barrier is found."""

from __future__ import annotations

from functools import partial

import pytest

from fdcomm.testing import Bound, Exhaustive, Program, explore, replay
from tests.schedules.checks import every_schedule_is_right
from tests.schedules.word_programs import PROGRAMS, RACES, race, waiting


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps(name: str) -> None:
    broken = race(name, shipped=True)
    report = explore(broken, Exhaustive(), Bound())
    assert report.failure is not None
    assert replay(broken, report.failure).verdict == report.failure.verdict


def test_a_barrier_that_does_not_reach_the_setter_is_found() -> None:
    program = Program("no barrier", partial(waiting, barrier=False), {})
    report = explore(program, Exhaustive(), Bound())
    assert report.failure is not None
    assert "slept through" in report.failure.message
