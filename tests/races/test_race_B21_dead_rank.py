"""B21: a rank is killed before it comes; the others wait for it for ever."""

import pytest

from fdcomm.errors import PeerLostError
from tests.races.barrier_race import BarrierRace, BarrierVariant

pytestmark = pytest.mark.multiproc


def scenario(variant: BarrierVariant) -> str:
    first = [variant.wait(0), variant.wait(1)]
    assert [wait.error() for wait in first] == [None, None]
    waiting = variant.wait(0)
    variant.arrived()
    variant.lose(1)
    if not hasattr(variant, "server"):
        # Nothing in the manager can tell it: the wait ends only because this test ends it.
        stuck = waiting.is_running()
        variant.abort()
        waiting.error()
        return "rank 0 waits for a rank that is gone" if stuck else ""
    error = waiting.error()
    return "" if isinstance(error, PeerLostError) and error.missing == (1,) else f"rank 0 is told {error!r}"


RACE = BarrierRace(("B21",), scenario, scenario, "rank 0 waits for a rank that is gone")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
