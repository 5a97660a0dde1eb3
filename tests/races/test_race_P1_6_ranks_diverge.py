"""P1.6: one worker loop step in which rank 1 runs a batch that rank 0 does not.

In a step, rank 0 looks whether there are tasks and says so to the others; all meet at a barrier; a weight update
makes all clear; then each reads because rank 0 had said so. The engine puts a batch between the two reads.

Ours: rank 0 hands on the ticket of the batch that it saw instead of "yes", and each rank takes that batch or nothing.
"""

from tests.races.race import Race
from tests.races.variants import Ours, Shipped


def shipped(variant: Shipped) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.reader(1)
    engine.put_tasks("OLD")
    said = rank0.exist_tasks()
    assert said  # ... and the barrier
    rank0.clear_data()
    rank1.clear_data()
    first = rank0.get_tasks()[0] if said else []
    engine.put_tasks("NEW")
    second = rank1.get_tasks()[0] if said else []
    return "" if first == second else f"in one step rank 0 runs {first} and rank 1 runs {second}"


def ours(variant: Ours) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.reader(1)
    engine.put_tasks("OLD")
    ticket = rank0.task_ticket()
    assert ticket  # ... and the barrier
    rank0.clear_data()
    rank1.clear_data()
    first = rank0.get_tasks(ticket=ticket)[0]
    engine.put_tasks("NEW")
    second = rank1.get_tasks(ticket=ticket)[0]
    if first != second:
        return f"in one step rank 0 runs {first} and rank 1 runs {second}"
    ticket = rank0.task_ticket()
    got = [rank0.get_tasks(ticket=ticket)[0], rank1.get_tasks(ticket=ticket)[0]]
    return "" if ticket and got == [["NEW"], ["NEW"]] else f"in the next step the ranks run {got}"


RACE = Race(("P1.6",), shipped, ours, "in one step rank 0 runs [] and rank 1 runs ['NEW']")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
