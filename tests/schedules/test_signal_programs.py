"""The programs of signals hold under every schedule within their bounds, and faults are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fdcomm.testing import Bound, Exhaustive, explore, replay
from tests.schedules.checks import every_schedule_is_right
from tests.schedules.signal_programs import FAULTY, PROGRAMS, faulty


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    program, bound = PROGRAMS[name]
    assert every_schedule_is_right(program, bound).executions > 20


@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_is_found_and_found_again(fault: str) -> None:
    program = faulty(fault)
    report = explore(program, Exhaustive(), Bound(preemptions=2), executions=2000)
    assert report.failure is not None
    outcome = replay(program, report.failure)
    assert (outcome.verdict, outcome.failed) == (report.failure.verdict, True)


def test_no_folder_is_left() -> None:
    explore(PROGRAMS["a killed maker"][0], Exhaustive(), Bound(preemptions=1), executions=5)
    assert list(Path("/dev/shm").glob(f"fdcomm-test-{os.getpid()}-*")) == []
