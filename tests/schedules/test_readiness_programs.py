"""Every schedule of small programs over readiness, and random ones of a larger program."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdcomm.core.readiness import Readiness
from fdcomm.host.readiness_channel import ReadinessChannel
from fdcomm.testing import Bound
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, random_schedules_are_right
from tests.schedules.readiness_programs import LARGER, PROGRAMS
from tests.schedules.readiness_races import RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    random_schedules_are_right(LARGER[name], seed, 40)


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_shipped_flags_and_not_on_ours(name: str) -> None:
    race_is_found(race(name, shipped=True), Bound(), "invariant")
    every_schedule_is_right(race(name, shipped=False), Bound())


# -- the programs have teeth: each planted fault is found --------------------------------------------------------------


def _deaf(patch: pytest.MonkeyPatch) -> None:
    """Nobody is woken after a change."""
    patch.setattr(ReadinessChannel, "_wake_all", lambda self: None)


def _blind(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks at the words."""
    patch.setattr(ReadinessChannel, "_look", lambda self, core: False)


def _sleeps(patch: pytest.MonkeyPatch) -> None:
    """A call sleeps until its own limit, whatever the loops do."""
    patch.setattr(ReadinessChannel, "_pause", lambda self, core, deadline: deadline.remaining())


def _no_loss(patch: pytest.MonkeyPatch) -> None:
    """A lost part keeps what it has said."""

    def fence(self: Readiness, component: str, rank: int) -> list[object]:
        part = self.part(component, rank)
        part.here, part.lost = False, True
        return []

    patch.setattr(Readiness, "fence", fence)


def _stays(patch: pytest.MonkeyPatch) -> None:
    """The wait of a client that is gone stays open."""
    patch.setattr(ReadinessChannel, "_expire", lambda self, core, number: None)


FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "nobody is woken": ("2 parts come up", _deaf),
    "nobody looks": ("a loop stands still", _blind),
    "a call sleeps for too long": ("a loop stands still", _sleeps),
    "the lost stay ready": ("a part is lost", _no_loss),
    "the wait of a lost client stays": ("the client is lost", _stays),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, plant = FAULTS[fault]
    plant(monkeypatch)
    failure_is_found(*PROGRAMS[name])
