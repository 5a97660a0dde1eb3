"""P11.3: a poll of the engine waits for the slowest rank, also when a later request has all its answers."""

from tests.races.gates import finished
from tests.races.race import Race
from tests.races.shipped import Stuck
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0, rank1 = finished(variant), finished(variant, 0), finished(variant, 1)
    rank0.put(["slow", "finished"])
    try:
        told = [engine.get()]
    except Stuck as error:
        return f"rank 1 is still busy, and {error}"
    for rank in (rank1, rank0):
        rank.put(["fast", "finished"])
    told.append(engine.get())
    rank1.put(["slow", "finished"])
    told.append(engine.get())
    wanted = [None, [["fast", "finished"]], [["slow", "finished"]]]
    return "" if told == wanted else f"the engine was told {told}"


RACE = Race(("P11.3",), scenario, scenario, "rank 1 is still busy, and get still polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
