"""loop-own-read: rank 0 sees a batch that it has taken itself, and sends everybody for the next one too early.

Rank 0 has taken the batch and begins the next step of the worker loop while rank 1 has not taken it: it sees "there are
tasks". Rank 1 takes the batch, as the last one, and lowers the loop's flag; then rank 0 raises it for nothing. In that
step the ranks take what there is at their moment, and the engine puts between the two.

Ours: on a handle that reads for a rank ``exist_tasks()`` is about that rank. What only others have not taken counts
from the second look on, so that nobody is left behind.
"""

from typing import Any

from tests.races.race import Race
from tests.races.variants import Ours, Shipped


def shipped(variant: Shipped) -> str:
    return _two_steps(variant.engine(), variant.reader(0), variant.reader(1))


def ours(variant: Ours) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.reader(1)
    if wrong := _two_steps(engine, rank0, rank1):
        return wrong
    if not rank0.exist_tasks():
        return "rank 0 does not see the batch that it has not taken"
    got = [rank0.get_tasks()[0], rank1.get_tasks()[0]]
    if got != [["B"], ["B"]]:
        return f"in the next step the ranks run {got}"
    engine.put_tasks("C")
    rank0.get_tasks()
    looks = [rank0.exist_tasks() for _ in range(3)]
    if looks != [False, True, True]:
        return f"rank 1 has not taken the batch, and rank 0 is told {looks}"
    rank1.get_tasks()
    return "rank 0 sees a batch that all have taken" if rank0.exist_tasks() else ""


def _two_steps(engine: Any, rank0: Any, rank1: Any) -> str:
    engine.put_tasks("A")
    assert rank0.exist_tasks()  # the flag is raised, and the ranks meet
    rank0.get_tasks()
    seen = rank0.exist_tasks()  # rank 0 begins the next step
    read_finish = rank1.get_tasks()[1]
    assert read_finish  # the flag is lowered; then rank 0 raises it if it has seen something, and the ranks meet
    first = rank0.get_tasks()[0] if seen else []
    engine.put_tasks("B")
    second = rank1.get_tasks()[0] if seen else []
    return "" if first == second else f"in one step rank 0 runs {first} and rank 1 runs {second}"


RACE = Race(("loop-own-read",), shipped, ours, "in one step rank 0 runs [] and rank 1 runs ['B']")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
