"""Level V5: the schedules of the ring's code, with its sleeps and store buffers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdcomm.deadline import Deadline
from fdcomm.ring.layout import WANT_BELL
from fdcomm.ring.waiting import Patience
from fdcomm.testing import Exhaustive, explore
from fdcomm.testing.kernel import ControlledKernel
from tests.schedules.ring_programs import PROGRAMS

# The others are in the verification.
_QUICK = ("the ring is full", "nobody is counted any more", "a clear is killed", "2 puts, 1 slot")


@pytest.mark.parametrize("name", _QUICK)
def test_every_schedule(name: str) -> None:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, report.failure
    assert report.complete


def test_a_sleeper_without_a_barrier_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlledKernel, "barrier", lambda self: True)
    program, bound = PROGRAMS["put and get, store buffers"]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is not None
    assert "slept through" in report.failure.message


def test_a_writer_that_does_not_say_that_it_waits_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep_writer(self: Patience, wanted: int, due: Callable[[], bool], deadline: Deadline) -> bool:
        return self._sleep(WANT_BELL, due, deadline)

    monkeypatch.setattr(Patience, "sleep_writer", sleep_writer)
    program, bound = PROGRAMS["the ring is full"]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is not None
    assert "slept through" in report.failure.message
