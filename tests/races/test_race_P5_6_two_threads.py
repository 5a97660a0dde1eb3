"""P5.6: two threads of one rank come to a barrier and count as two ranks."""

import pytest

from fdcomm.errors import ProtocolViolationError
from tests.races.barrier_race import BarrierRace, BarrierVariant

pytestmark = pytest.mark.multiproc


def scenario(variant: BarrierVariant) -> str:
    first = variant.wait(0)
    variant.arrived()
    second = variant.wait(0).error()
    if second is None:
        assert first.error() is None
        return "rank 0 passes by two of its threads, and rank 1 was not there"
    if not isinstance(second, ProtocolViolationError) or not first.is_running():
        return f"the second thread is told {second!r}"
    both = [variant.wait(1).error(), first.error()]
    return "" if both == [None, None] else f"the ranks do not meet: {both}"


RACE = BarrierRace(("P5.6",), scenario, scenario, "rank 0 passes by two of its threads")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
