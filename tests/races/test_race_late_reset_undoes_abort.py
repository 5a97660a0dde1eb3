"""late-reset: a reset that belongs to the round before undoes an abort, and its rank waits for ever."""

from threading import BrokenBarrierError

import pytest

from tests.races.barrier_race import BarrierRace, BarrierVariant

pytestmark = pytest.mark.multiproc


def scenario(variant: BarrierVariant) -> str:
    first = [variant.wait(0), variant.wait(1)]
    assert [wait.error() for wait in first] == [None, None]
    ahead = variant.wait(1)
    variant.arrived()
    variant.abort()
    assert isinstance(ahead.error(), BrokenBarrierError)  # rank 1 goes and tells somebody
    variant.reset(0)  # after the round before
    late = variant.wait(0)
    if not hasattr(variant, "server"):
        variant.arrived()
        stuck = late.is_running()
        variant.abort()
        late.error()
        return "the abort is undone, and rank 0 waits for ever" if stuck else ""
    if not isinstance(late.error(), BrokenBarrierError):
        return f"rank 0 is told {late.error()!r}"
    variant.reset(0)  # now it was told
    both = [variant.wait(0), variant.wait(1)]
    return "" if [wait.error() for wait in both] == [None, None] else "the barrier cannot be used any more"


RACE = BarrierRace(("late-reset",), scenario, scenario, "the abort is undone")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
