"""B20, P4.2, P4.3, C08, G5: a rank resets a barrier after it has passed, and throws another out of the next round."""

from threading import BrokenBarrierError

import pytest

from tests.races.barrier_race import BarrierRace, BarrierVariant

pytestmark = pytest.mark.multiproc


def scenario(variant: BarrierVariant) -> str:
    first = [variant.wait(0), variant.wait(1)]
    assert [wait.error() for wait in first] == [None, None]
    ahead = variant.wait(1)  # it has no reset to make, and comes to the next round
    variant.arrived()
    variant.reset(0)  # after the round before
    if hasattr(variant, "server"):
        both = [variant.wait(0).error(), ahead.error()]
        return "" if both == [None, None] else f"the ranks do not meet: {both}"
    if not isinstance(ahead.error(), BrokenBarrierError):
        return ""
    late = variant.wait(0)
    variant.arrived()  # rank 1 has given up its task, and nobody is left who could come
    stuck = late.is_running()
    variant.abort()
    late.error()
    return "rank 1 is thrown out of the next round" + (", and rank 0 waits for it for ever" if stuck else "")


RACE = BarrierRace(("B20", "P4.2", "P4.3", "P5.8", "C08", "G5"), scenario, scenario, "and rank 0 waits for it for ever")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
