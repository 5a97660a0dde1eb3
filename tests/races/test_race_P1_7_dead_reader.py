"""P1.7, B83, B87: a rank was killed before it read; the engine's next put waits for its flag for ever."""

import pytest

from fdcomm.errors import PeerLostError
from tests.races.race import Race
from tests.races.shipped import Stuck
from tests.races.variants import Variant

pytestmark = pytest.mark.multiproc


def scenario(variant: Variant) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.child(1)
    engine.put_tasks("A")
    assert rank0.get_tasks() == (["A"], False)
    rank1.kill()
    try:
        engine.put_tasks("B")
    except Stuck as error:
        return f"rank 1 is dead, and {error}"
    except PeerLostError as error:
        return "" if error.missing == (1,) else f"the error names ranks {error.missing} instead of 1"
    return "the put succeeds although rank 1 has not read the batch before"


RACE = Race(("P1.7", "B83", "B87"), scenario, scenario, "rank 1 is dead, and put still polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
