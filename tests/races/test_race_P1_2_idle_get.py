"""P1.2: a get on an idle queue writes the exist flag.

That it answers ``all_read=True`` is no fault of its own: nothing is left for any rank, and FastDeploy's worker lowers
its own flag by it (docs/protocols/dispatch.md).
"""

from tests.races.race import Race
from tests.races.variants import Ours, Shipped


def shipped(variant: Shipped) -> str:
    steps: list[str] = []
    batches, all_read = variant.client(0, hook=steps.append).get_tasks()
    assert batches == []
    return f"an idle get answers all_read={all_read} and lowers exist" if all_read and "get.lower" in steps else ""


def ours(variant: Ours) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.reader(1)
    if rank0.get_tasks() != ([], True):  # there is nothing for any rank, and that is all that it says
        return "an idle get answers more than nothing"
    engine.put_tasks("A")
    rank0.get_tasks()
    if rank0.get_tasks() != ([], False):  # idle for rank 0, and not for rank 1
        return "a get of a rank with nothing to take answers more than nothing"
    if not rank1.exist_tasks():
        return "an idle get lowers exist while rank 1 has not taken the batch"
    return "" if rank1.get_tasks() == (["A"], True) else "rank 1 misses the batch"


RACE = Race(("P1.2",), shipped, ours, "all_read=True and lowers exist")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
