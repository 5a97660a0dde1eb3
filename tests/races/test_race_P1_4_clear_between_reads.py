"""P1.4: a clear between the reads of two ranks takes from the second what the first already runs."""

from tests.races.race import Race
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.reader(1)
    engine.put_tasks("A")
    first, _ = rank0.get_tasks()
    rank0.clear_data()
    second, _ = rank1.get_tasks()
    return "" if first == second == ["A"] else f"rank 0 runs {first} and rank 1 runs {second}"


RACE = Race(("P1.4",), scenario, scenario, "rank 0 runs ['A'] and rank 1 runs []")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
