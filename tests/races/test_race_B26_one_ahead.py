"""B26: rank 0 makes one step more than the others; it meets them in a step that is not theirs, and nobody notices."""

import pytest

from fdcomm.errors import BarrierMismatchError
from tests.races.barrier_race import BarrierRace, BarrierVariant

pytestmark = pytest.mark.multiproc


def scenario(variant: BarrierVariant) -> str:
    extra = variant.wait(0, label="extra step")
    variant.arrived()
    other = variant.wait(1, label="step 1")
    errors = [extra.error(), other.error()]
    if errors == [None, None]:
        return "rank 0 passes with its extra step, and rank 1 with step 1"
    for error in errors:
        if not isinstance(error, BarrierMismatchError):
            return f"a rank is told {error!r}"
        if "'extra step'" not in str(error) or "'step 1'" not in str(error):
            return f"the error does not say where both are: {error}"
    return ""


RACE = BarrierRace(("B26",), scenario, scenario, "rank 0 passes with its extra step")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
