"""Every schedule of small programs over the barriers, and random ones of larger programs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdcomm.core.barrier import BarrierGroup
from fdcomm.host.barrier_channel import BarrierChannel
from fdcomm.testing import PCT, Bound, Exhaustive, RandomWalk, explore, replay
from fdcomm.testing.controlled import ControlledCondition
from tests.schedules.barrier_programs import LARGER, PROGRAMS
from tests.schedules.barrier_races import RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, str(report)
    assert report.complete


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    for strategy in (RandomWalk(seed, 100), PCT(seed, 100)):
        report = explore(LARGER[name], strategy, Bound(ticks=2, spurious=2))
        assert report.failure is None, f"seed {seed}: {report}"


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_shipped_barrier_and_not_on_ours(name: str) -> None:
    broken = race(name, shipped=True)
    shipped = explore(broken, Exhaustive())
    assert shipped.failure is not None, str(shipped)
    assert shipped.failure.verdict == "error"
    assert replay(broken, shipped.failure).message == shipped.failure.message
    ours = explore(race(name, shipped=False), Exhaustive())
    assert ours.failure is None, str(ours)
    assert ours.complete


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
    program, bound = PROGRAMS[name]
    assert explore(program, Exhaustive(), bound).failure is not None
