"""P1.5: every rank clears after the same event; the second clear wipes a batch that was put after the first."""

from tests.races.race import Race
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.reader(1)
    engine.put_tasks("OLD")
    rank0.clear_data()
    engine.put_tasks("NEW")
    rank1.clear_data()
    got = [rank0.get_tasks()[0], rank1.get_tasks()[0]]
    return "" if got == [["NEW"], ["NEW"]] else f"the batch NEW was put, and the ranks read {got}"


RACE = Race(("P1.5",), scenario, scenario, "the ranks read [[], []]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
