"""P1.8: the text of the address decides where the exist flag is, so two names of one machine are two flags."""

from tests.races.race import Race
from tests.races.variants import Ours, Shipped


def shipped(variant: Shipped) -> str:
    engine, rank0 = variant.client(0, name="0.0.0.0"), variant.client(0, name="127.0.0.1")
    engine.put_tasks("A")
    seen = rank0.exist_tasks()
    there = rank0.num_tasks()
    return f"{there} batch is there, and rank 0 sees none" if there and not seen else ""


def ours(variant: Ours) -> str:
    engine, rank0 = variant.engine(), variant.client(0, "reader", name="127.0.0.1")
    engine.put_tasks("A")
    return "" if rank0.exist_tasks() and rank0.get_tasks()[0] == ["A"] else "rank 0 does not see the batch"


RACE = Race(("P1.8",), shipped, ours, "1 batch is there, and rank 0 sees none", tcp=True)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
