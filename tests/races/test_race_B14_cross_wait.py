"""B14, C07, P4.1, P10.3, P11.6, P11.7: ranks wait at different barriers of one turn for ever."""

import pytest

from fdcomm.errors import BarrierMismatchError
from tests.races.barrier_race import BarrierRace, BarrierVariant

pytestmark = pytest.mark.multiproc


def scenario(variant: BarrierVariant) -> str:
    # Rank 1 has failed in the middle of the turn, and has begun the next one; or it has one call less to make.
    zero = variant.wait(0, "barrier1")
    variant.arrived("barrier1")
    one = variant.wait(1, "barrier0")
    if not hasattr(variant, "server"):
        variant.arrived("barrier0")
        stuck = zero.is_running() and one.is_running()  # all ranks wait, so nobody can come
        variant.abort("barrier0")
        variant.abort("barrier1")
        zero.error(), one.error()
        return "both ranks wait, at two barriers" if stuck else ""
    for error in (zero.error(), one.error()):
        if not isinstance(error, BarrierMismatchError):
            return f"a rank is told {error!r}"
        if "rank 0 at barrier1" not in str(error) or "rank 1 at barrier0" not in str(error):
            return f"the error does not say where both are: {error}"
    again = [variant.wait(0), variant.wait(1)]
    return "" if [wait.error() for wait in again] == [None, None] else "the ranks cannot meet any more"


RACE = BarrierRace(
    ("B14", "C07", "P4.1", "P10.3", "P11.6", "P11.7"), scenario, scenario, "both ranks wait, at two barriers"
)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
