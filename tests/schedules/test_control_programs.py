"""Every schedule of small programs over control requests, and random ones of a larger program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fdcomm.core.control import Control
from fdcomm.host.control_channel import ControlChannel
from fdcomm.testing.controlled import ControlledCondition
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, random_schedules_are_right
from tests.schedules.control_programs import LARGER, PROGRAMS
from tests.schedules.control_races import BOUND, RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    random_schedules_are_right(LARGER[name], seed, 60)


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_shipped_steps_and_not_on_ours(name: str) -> None:
    race_is_found(race(name, shipped=True), BOUND, "error")
    every_schedule_is_right(race(name, shipped=False), BOUND)


# -- the programs have teeth: each planted fault is found --------------------------------------------------------------


def _deaf(patch: pytest.MonkeyPatch) -> None:
    """An answer wakes nobody."""
    answer = ControlChannel.answer

    def quiet(self: ControlChannel, *args: Any) -> None:
        with patch.context() as inner:
            inner.setattr(ControlledCondition, "notify_all", lambda condition: None)
            answer(self, *args)

    patch.setattr(ControlChannel, "answer", quiet)


def _late_counts(patch: pytest.MonkeyPatch) -> None:
    """A late answer counts for the request that is open (P14.1)."""
    answer = Control.answer

    def counted(self: Control[Any], rank: int, number: int, what: Any) -> bool:
        if number not in self.open and self.open:
            self.doing[rank] = number = next(iter(self.open))
        return answer(self, rank, number, what)

    patch.setattr(Control, "answer", counted)


def _cancel_is_lost(patch: pytest.MonkeyPatch) -> None:
    """Who asks does not see that its request was withdrawn."""
    withdraw = Control.withdraw

    def silent(self: Control[Any], number: int) -> bool:
        request = self.open.get(number)
        done = withdraw(self, number)
        if request is not None:
            request.state = "open"
        return done

    patch.setattr(Control, "withdraw", silent)


FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "an answer wakes nobody": ("1 request to 2 ranks", _deaf),
    "a late answer counts": ("the first request is late", _late_counts),
    "a cancel is not seen": ("another thread cancels", _cancel_is_lost),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, plant = FAULTS[fault]
    plant(monkeypatch)
    failure_is_found(*PROGRAMS[name])
