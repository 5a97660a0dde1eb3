"""P1.3, B01: after a clear the exist flag still says that there are tasks; the reader that believes it gets none."""

from tests.races.race import Race
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0 = variant.engine(), variant.reader(0)
    engine.put_tasks("A")
    engine.clear_data()
    if not rank0.exist_tasks():
        return "" if rank0.num_tasks() == 0 else "the batch survives the clear"
    batches, _ = rank0.get_tasks()
    return f"exist says True, and rank 0 reads {batches}"


RACE = Race(("P1.3", "B01"), scenario, scenario, "exist says True, and rank 0 reads []")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
