"""P15.1: who waits for the sum of the flags counts the flag of the last time, of a rank that has not come up again."""

import pytest

from tests.races.readiness_race import ReadinessOurs, ReadinessRace, is_late
from tests.races.shipped_readiness import Process, ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    for rank in range(2):
        words.start(rank).kill()
    words.start(0)  # both are started again, and rank 1 is slower
    slow = Process(words, 1)
    return "launched, and rank 1 has not loaded" if words.launch(looks=3) and not slow.loaded else ""


def ours(engine: ReadinessOurs) -> str:
    engine.all_ready("cache")
    for rank in range(2):
        engine.lose("cache", rank)
    engine.start("cache", 0).ready()
    engine.start("cache", 1)
    error = engine.refusal("cache")
    if not is_late(error, ("cache", 1, "starting")):
        return f"a new process counts as the one before it: {error!r}"
    return engine.works("cache")


RACE = ReadinessRace(("P15.1",), shipped, ours, "has not loaded")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
