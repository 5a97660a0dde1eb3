"""P11.1: flags are booleans, so two answers of a rank count once, and the surplus one is in nobody's round."""

from tests.races.gates import finished
from tests.races.race import Race
from tests.races.shipped import Stuck
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0, rank1 = finished(variant), finished(variant, 0), finished(variant, 1)
    for request in ("a", "b", "c"):
        rank0.put([request, "finished"])
    told = []
    try:
        for request in ("a", "b", "c"):
            rank1.put([request, "finished"])
            told.append(engine.get())
    except Stuck as error:
        return f"of three finished requests the engine was told {told}, and then {error}"
    wanted = [[[request, "finished"]] for request in ("a", "b", "c")]
    return "" if told == wanted else f"the engine was told {told}"


RACE = Race(("P11.1",), scenario, scenario, "was told [[[\x27a\x27, \x27finished\x27]]], and then get still polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
