"""P1.1: a rank that asks again before the others have read is given the same batch again."""

from tests.races.race import Race
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0 = variant.engine(), variant.reader(0)
    engine.put_tasks("A")
    first, _ = rank0.get_tasks()
    assert first == ["A"]
    second, _ = rank0.get_tasks()
    return f"rank 0 is given {second} a second time" if second else ""


RACE = Race(("P1.1",), scenario, scenario, "a second time")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
