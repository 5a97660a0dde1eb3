"""Level V5 of the biased writer's place: no schedule gives a number twice, and what the code lacks is missed."""

from __future__ import annotations

from functools import partial

import pytest

from fdcomm.ring.locks import KernelLocks
from fdcomm.testing import Bound, Exhaustive, Program, Report, explore
from fdcomm.testing.kernel import ControlledKernel
from tests.schedules.ring_bias_programs import PROGRAMS, LooksFirst, putting


def _explored(**options: object) -> Report:
    return explore(Program("a bias is ended", partial(putting, **options), {}), Exhaustive(), Bound())  # type: ignore[arg-type]


def test_every_schedule() -> None:
    program, bound = PROGRAMS["a bias is ended"]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, report.failure
    assert report.complete
    assert report.executions > 100


def _is_missed(report: Report) -> None:
    assert report.failure is not None
    assert "the puts got the numbers" in report.failure.message


def test_a_look_before_the_word_is_missed() -> None:
    _is_missed(_explored(kind=LooksFirst))


def test_the_barrier_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlledKernel, "barrier", lambda self: True)
    _is_missed(_explored())


def test_the_wait_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KernelLocks, "wait_until", lambda self, attempt, *rest: attempt())
    _is_missed(_explored())
