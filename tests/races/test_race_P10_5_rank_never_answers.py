"""P10.5, P11.5: a rank never answers a request; the poll of the engine does not return, nor does what is behind it."""

from fdcomm.errors import CommTimeoutError
from tests.races.gates import _Ours, responses
from tests.races.race import Race
from tests.races.shipped import Stuck
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0, rank1 = responses(variant), responses(variant, 0), responses(variant, 1)
    rank0.put({"task_id": 1, "success": True})
    if isinstance(engine, _Ours):
        engine.round_s = 0.0
    try:
        told = engine.get()
    except Stuck as error:
        return f"rank 1 has passed over task 1, and {error}"
    except CommTimeoutError as error:
        if (error.missing, error.request) != ((1,), 1):
            return f"the error names ranks {error.missing} and request {error.request!r}"
    else:
        return f"the engine was told {told} of a task that rank 1 has not answered"
    for rank in (rank0, rank1):
        rank.put({"task_id": 2, "success": True})
    told = engine.get()
    return "" if told == {"task_id": 2, "success": True} else f"of the next task the engine was told {told}"


RACE = Race(("P10.5", "P11.5"), scenario, scenario, "and get still polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
