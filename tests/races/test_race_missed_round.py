"""missed-round: a rank that has not got the answer of a round waits for it again, and meets the next one."""

import pytest

from fdcomm.errors import BarrierMismatchError
from tests.races.barrier_race import BarrierRace, BarrierVariant

pytestmark = pytest.mark.multiproc


def scenario(variant: BarrierVariant) -> str:
    first = [variant.wait(0, generation=0), variant.wait(1, generation=0)]
    assert [wait.error() for wait in first] == [None, None]
    variant.lose(1)  # the answer has not reached it
    variant.again(1)
    again = variant.wait(1, generation=0)
    if not hasattr(variant, "server"):
        variant.arrived()
        assert [variant.wait(0, generation=1).error(), again.error()] == [None, None]
        return "rank 1 passes for round 0 together with rank 0 for round 1"
    error = again.error()
    if not isinstance(error, BarrierMismatchError) or error.epoch != 1:
        return f"rank 1 is told {error!r}"
    both = [variant.wait(1, generation=1), variant.wait(0, generation=1)]
    return "" if [wait.error() for wait in both] == [None, None] else "the ranks do not meet in round 1"


RACE = BarrierRace(("missed-round",), scenario, scenario, "rank 1 passes for round 0")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
