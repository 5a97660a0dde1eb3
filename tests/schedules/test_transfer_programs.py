"""Every schedule of small programs over transfer tasks, and random ones of larger programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from fdcomm.core.transfer import Transfer
from fdcomm.core.transfer_state import Task
from fdcomm.errors import CommTimeoutError
from fdcomm.host.transfer_channel import TransferChannel
from fdcomm.testing import Bound, Program, RandomWalk, explore
from fdcomm.testing.controlled import ControlledCondition
from fdcomm.transfer import TransferLoop
from fdcomm.transfer_work import Work
from tests.schedules.checks import every_schedule_is_right, failure_is_found, random_schedules_are_right
from tests.schedules.transfer_programs import LARGER, PROGRAMS, looping


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    random_schedules_are_right(LARGER[name], seed, 15)


# -- the programs have teeth: each planted fault is found --------------------------------------------------------------


def _deaf(patch: pytest.MonkeyPatch) -> None:
    """A refusal wakes nobody."""
    refuse = TransferChannel.refuse

    def quiet(self: TransferChannel, *args: Any) -> None:
        with patch.context() as inner:
            inner.setattr(ControlledCondition, "notify_all", lambda condition: None)
            refuse(self, *args)

    patch.setattr(TransferChannel, "refuse", quiet)


def _withdraws_started(patch: pytest.MonkeyPatch) -> None:
    """A withdrawal is about started tasks too."""

    def all_of_them(self: Transfer[Any], client: int) -> tuple[Task[Any], ...]:
        return self._cancel([*self.queued.values(), *self.started.values()])

    patch.setattr(Transfer, "withdraw", all_of_them)


def _late_counts(patch: pytest.MonkeyPatch) -> None:
    """A report of a task that was abandoned is said to count."""
    report = Transfer.report_ok

    def counted(self: Transfer[Any], rank: int, number: int, value: Any) -> bool:
        report(self, rank, number, value)
        return True

    patch.setattr(Transfer, "report_ok", counted)


def _waits_for_the_lost(patch: pytest.MonkeyPatch) -> None:
    """A task waits for a rank that is lost."""
    patch.setattr(Transfer, "_lack", lambda self, rank, tasks: None)


def _overdue_is_over(patch: pytest.MonkeyPatch) -> None:
    """A rank whose handler runs over its limit counts as one that has ended (overdue-target)."""
    patch.setattr(Transfer, "overdue", Transfer.report_failed)


def _reports_an_overdue_task_as_over(patch: pytest.MonkeyPatch) -> None:
    """A rank says of a handler that runs over its limit that it has ended."""
    report = Work._report

    def over(self: Work, begun: Any, ok: bool, said: bytes) -> None:
        begun.owes = False
        report(self, begun, ok, said)

    patch.setattr(Work, "_report", over)


def _settles_nothing(patch: pytest.MonkeyPatch) -> None:
    """A late report of a task that was not waited for settles nothing."""
    patch.setattr(TransferChannel, "_settle", lambda self, rank, number: None)


def _settles_in_silence(patch: pytest.MonkeyPatch) -> None:
    """Who waits for a task to settle is not woken."""
    settle = TransferChannel._settle

    def quiet(self: TransferChannel, rank: int, number: int) -> None:
        with patch.context() as inner:
            inner.setattr(ControlledCondition, "notify_all", lambda condition: None)
            settle(self, rank, number)

    patch.setattr(TransferChannel, "_settle", quiet)


FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "a refusal wakes nobody": ("a rank refuses", _deaf),
    "a withdrawal is about started tasks too": ("a withdrawal meets the start", _withdraws_started),
    "a late report counts": ("a client stops waiting", _late_counts),
    "a task waits for a rank that is lost": ("a rank is lost", _waits_for_the_lost),
    "an overdue task is over": ("a handler hangs", _overdue_is_over),
    "an overdue task is reported as over": ("a handler hangs", _reports_an_overdue_task_as_over),
    "a late report settles nothing": ("a client stops waiting", _settles_nothing),
    "a task settles in silence": ("a client stops waiting", _settles_in_silence),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, plant = FAULTS[fault]
    plant(monkeypatch)
    failure_is_found(*PROGRAMS[name])


# Faults inside of a rank show where pauses meet its loop: in random schedules.


def _admits_late(patch: pytest.MonkeyPatch) -> None:
    """A rank admits its job only when it has the task (B43)."""

    def no_job(self: TransferLoop, deadline: Any) -> bool:
        return bool(self._queue._act("transfer", "next_task", deadline.remaining(), name="step"))

    def admits_afterwards(self: TransferLoop) -> int | None:
        given = self._queue._act("transfer", "accept", 1.0, name="step")
        if given is None:
            return None
        self._work.admit(self._control.admit(timeout=None))
        self._work.begin(*given)
        return int(given[0])

    patch.setattr(TransferLoop, "_admitted", no_job)
    patch.setattr(TransferLoop, "_begun", admits_afterwards)


def _done_before_report(patch: pytest.MonkeyPatch) -> None:
    """A job ends before its report (P6.5)."""
    report = Work._report

    def late(self: Work, begun: Any, ok: bool, said: bytes) -> None:
        begun.job.done()
        report(self, begun, ok, said)

    patch.setattr(Work, "_report", late)


def _pause_is_not_told(patch: pytest.MonkeyPatch) -> None:
    """A rank that is pausing lets the others wait, without a limit."""
    patch.setattr(TransferLoop, "_refuse", lambda self: None)
    patch.setattr("fdcomm.transfer._TOGETHER_S", None)

    def admitted(self: TransferLoop, deadline: Any) -> bool:
        while not self._queue._act("transfer", "next_task", 0.5, name="step"):
            if deadline.expired():
                return False
        while True:
            try:
                job = self._control.admit(timeout=0.5)
            except CommTimeoutError:
                continue
            self._work.admit(job)
            return True

    patch.setattr(TransferLoop, "_admitted", admitted)


INSIDE: dict[str, tuple[int, Callable[[pytest.MonkeyPatch], None]]] = {
    "a job is admitted late": (2, _admits_late),
    "a job ends before its report": (1, _done_before_report),
    "a pause is not told": (2, _pause_is_not_told),
}


@pytest.mark.parametrize("fault", INSIDE)
def test_a_fault_inside_of_a_rank_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks, plant = INSIDE[fault]
    plant(monkeypatch)
    program = Program(fault, partial(looping, ranks=ranks, count=2, pauses=True))
    report = explore(program, RandomWalk(20_308, 400), Bound(ticks=2))
    assert report.failure is not None
