"""G2, P4.4: a rank was killed while it waited; its arrival stays counted and lets another rank pass alone."""

import pytest

from fdcomm.errors import PeerLostError
from tests.races.barrier_race import BarrierRace, BarrierVariant

pytestmark = pytest.mark.multiproc


def scenario(variant: BarrierVariant) -> str:
    variant.kill_waiter(1)
    error = variant.wait(0).error()
    if error is None:
        return "rank 0 passes alone: rank 1 is dead"
    if not isinstance(error, PeerLostError) or error.missing != (1,):
        return f"rank 0 is told {error!r}"
    variant.again(1)
    back = variant.wait(1)
    variant.arrived()
    both = [variant.wait(0).error(), back.error()]
    return "" if both == [None, None] else f"the restarted rank and rank 0 do not meet: {both}"


RACE = BarrierRace(("G2", "P4.4"), scenario, scenario, "rank 0 passes alone")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
