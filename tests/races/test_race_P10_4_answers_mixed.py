"""P10.4, C03: a fast rank answers its second request, and both answers are taken for one; the other request is lost."""

from tests.races.gates import responses
from tests.races.race import Race
from tests.races.shipped import Stuck
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0, rank1 = responses(variant), responses(variant, 0), responses(variant, 1)
    rank0.put({"task_id": 1, "success": True})
    rank0.put({"task_id": 2, "success": False})
    rank1.put({"task_id": 1, "success": True})
    first = engine.get()
    rank1.put({"task_id": 2, "success": True})
    try:
        second = engine.get()
    except Stuck as error:
        return f"task 1 succeeded on both ranks, the engine was told {first}, and of task 2 that {error}"
    wanted = ({"task_id": 1, "success": True}, {"task_id": 2, "success": False})
    return "" if (first, second) == wanted else f"the engine was told {first} and {second}"


RACE = Race(
    ("P10.4", "C03"),
    scenario,
    scenario,
    "was told {\x27task_id\x27: 1, \x27success\x27: False}, and of task 2 that get still polls",
)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
