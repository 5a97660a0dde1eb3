"""B23: a barrier whose counter and marker have no round lets everybody through from the second use on."""

import pytest

from tests.races.barrier_race import BarrierOurs, BarrierRace, BarrierShipped
from tests.races.shipped_barrier import StoreBarrier

pytestmark = pytest.mark.multiproc


def shipped(variant: BarrierShipped) -> str:
    ranks = [StoreBarrier(variant.barriers.store, 2) for _ in range(2)]
    ranks[0].arrive()
    assert not ranks[0].may_go()
    ranks[1].arrive()
    assert all(rank.may_go() for rank in ranks)
    ranks[0].arrive()  # the second round, and rank 1 is still at work
    return "rank 0 passes the second round alone" if ranks[0].may_go() else ""


def ours(variant: BarrierOurs) -> str:
    for number in range(3):
        first = variant.wait(0)
        variant.arrived()
        if not first.is_running() or variant.server.barrier0.generation != number:
            return f"rank 0 passes round {number} alone"
        assert [variant.wait(1).error(), first.error()] == [None, None]
    return ""


RACE = BarrierRace(("B23",), shipped, ours, "passes the second round alone")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
