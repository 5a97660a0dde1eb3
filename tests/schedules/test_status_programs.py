"""Every schedule of small programs over components, and random ones of a larger program."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdcomm.core.status import Status
from fdcomm.host.status_channel import StatusChannel
from fdcomm.testing import Bound
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, random_schedules_are_right
from tests.schedules.status_programs import LARGER, PROGRAMS
from tests.schedules.status_races import RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    random_schedules_are_right(LARGER[name], seed, 60)


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_shipped_words_and_not_on_ours(name: str) -> None:
    race_is_found(race(name, shipped=True), Bound(), "invariant")
    every_schedule_is_right(race(name, shipped=False), Bound())


# -- the programs have teeth: each planted fault is found --------------------------------------------------------------


def _deaf(patch: pytest.MonkeyPatch) -> None:
    """Nobody is woken after a change."""
    patch.setattr(StatusChannel, "_wake_all", lambda self: None)


def _first_report(patch: pytest.MonkeyPatch) -> None:
    """The first part that has done it settles the component."""

    def settle(self: Status, component: str) -> bool:
        there = self.component(component, 0)
        if self.open is None or component not in self.changing or not there.reports or there.failed:
            return False
        there.word, there.partial = (-2, False) if self.open.goal == "clear" else (0, False)
        self.changing.discard(component)
        return True

    patch.setattr(Status, "settle", settle)


def _stays(patch: pytest.MonkeyPatch) -> None:
    """The request of a client that is gone stays open."""
    exit_ = StatusChannel._exit

    def forget(self: StatusChannel, member: object, *, lost: bool) -> None:
        self._asker, kept = -1, self._asker
        exit_(self, member, lost=lost)  # type: ignore[arg-type]
        self._asker = kept

    patch.setattr(StatusChannel, "_exit", forget)


FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "nobody is woken": ("2 parts clear", _deaf),
    "one report is enough": ("2 parts clear", _first_report),
    "the request of a lost client stays": ("the client is lost", _stays),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, plant = FAULTS[fault]
    plant(monkeypatch)
    failure_is_found(*PROGRAMS[name])
