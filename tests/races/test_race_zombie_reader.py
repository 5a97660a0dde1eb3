"""zombie: a rank's old reader, given up and replaced, goes on reading and takes its successor's batches.

The old process is not dead: it was slow, stopped, or cut off. Shipped, a client id is a number that anybody may use.
Ours: a session that the host has given up is refused by its incarnation.
"""

from fdcomm.errors import FencedError
from tests.races.inside import Inside
from tests.races.race import Race
from tests.races.variants import Ours, Shipped


def shipped(variant: Shipped) -> str:
    engine, rank1 = variant.engine(), variant.reader(1)
    old, new = variant.reader(0), variant.reader(0)
    engine.put_tasks("A")
    taken, _ = old.get_tasks()
    rank1.get_tasks()
    left, _ = new.get_tasks()
    return f"the old reader of rank 0 takes {taken}, its successor {left}" if left != ["A"] else ""


def ours(variant: Ours) -> str:
    inside = Inside()
    engine, rank1, old = inside.client(0, "producer"), inside.client(1, "reader"), inside.client(0, "reader")
    inside.lose(old)
    new = inside.client(0, "reader")
    engine.put_tasks("A")
    try:
        taken, _ = old.get_tasks()
    except FencedError:
        taken = []
    rank1.get_tasks()
    left, _ = new.get_tasks()
    inside.close()
    return "" if (taken, left) == ([], ["A"]) else f"the old reader of rank 0 takes {taken}, its successor {left}"


RACE = Race(("zombie",), shipped, ours, "takes ['A'], its successor []")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
