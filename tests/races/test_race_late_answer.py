"""late-answer: an answer comes after its request was given up, and is taken for the answer to the repeated request."""

from fdcomm.errors import CommTimeoutError, StaleAnswerError
from tests.races.gates import _Ours, finished
from tests.races.race import Race
from tests.races.shipped import Stuck
from tests.races.variants import Variant


def scenario(variant: Variant) -> str:
    engine, rank0, rank1 = finished(variant), finished(variant, 0), finished(variant, 1)
    rank0.put(["a", "finished"])
    if isinstance(engine, _Ours):
        engine.round_s = 0.0
    try:
        told = engine.get()
    except (Stuck, CommTimeoutError):
        told = None  # the engine has lost patience, and asks again
    if told is not None:
        return f"the request is not complete, and the engine was told {told}"
    try:
        rank1.put(["a", "error: too late"])
        refused = False
    except StaleAnswerError:
        refused = True
    told = None if refused else engine.get()
    if told is not None:
        return f"before any rank has answered the repeated request the engine was told {told}"
    for rank in (rank0, rank1):
        rank.put(["a", "finished"])
    told = engine.get()
    return "" if told == [["a", "finished"]] else f"the engine was told {told}"


RACE = Race(
    ("late-answer",),
    scenario,
    scenario,
    "before any rank has answered the repeated request the engine was told [[\x27a\x27, \x27error: too late\x27]]",
)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
