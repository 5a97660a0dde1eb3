"""Every schedule of small programs over the barriers, and random ones of larger programs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdcomm.core.barrier import BarrierGroup
from fdcomm.host.barrier_channel import BarrierChannel
from fdcomm.testing import Bound
from fdcomm.testing.controlled import ControlledCondition
from tests.schedules.barrier_programs import LARGER, PROGRAMS
from tests.schedules.barrier_races import RACES, race
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, random_schedules_are_right


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    random_schedules_are_right(LARGER[name], seed, 100)


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_shipped_barrier_and_not_on_ours(name: str) -> None:
    race_is_found(race(name, shipped=True), Bound(), "error")
    every_schedule_is_right(race(name, shipped=False), Bound())


# -- the programs have teeth: each planted fault is found --------------------------------------------------------------


def _deaf(patch: pytest.MonkeyPatch) -> None:
    """The last arrival wakes nobody."""
    wait = BarrierChannel.wait

    def quiet(self: BarrierChannel, *args: object) -> object:
        patch.setattr(ControlledCondition, "notify_all", lambda condition: None)
        return wait(self, *args)  # type: ignore[arg-type]

    patch.setattr(BarrierChannel, "wait", quiet)


def _by_generation(patch: pytest.MonkeyPatch) -> None:
    """A waiter looks at the number of waiters instead of its own arrival: the next round hides that it has passed."""
    end = BarrierGroup._end

    def forget(barrier: object, ending: object) -> None:
        arrived = dict(barrier.arrived)  # type: ignore[attr-defined]
        end(barrier, ending)  # type: ignore[arg-type]
        for arrival in list(arrived.values())[:-1]:
            arrival.ending = None

    patch.setattr(BarrierGroup, "_end", staticmethod(forget))


def _ghost(patch: pytest.MonkeyPatch) -> None:
    """A lost rank's arrival stays counted (G2)."""
    patch.setattr(BarrierGroup, "_withdraw", lambda self, rank: True)


FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "the last arrival wakes nobody": ("2 ranks meet twice, rank 0 resets", _deaf),
    "a waiter does not see its own end": ("3 ranks meet", _by_generation),
    "a ghost is counted": ("a waiter is lost", _ghost),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, plant = FAULTS[fault]
    plant(monkeypatch)
    failure_is_found(*PROGRAMS[name])
