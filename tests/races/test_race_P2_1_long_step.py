"""P2.1: a step that takes longer than the limit, or weights that are being reloaded, look like a dead worker."""

import pytest

from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import LIMIT_S, ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    workers = [words.start(rank) for rank in range(2)]
    for worker in workers:
        worker.loop()
    words.now += LIMIT_S + 5  # weights are reloaded in the middle of a round
    return "" if words.healthy() else "the workers load weights, and are said to be dead"


def ours(engine: ReadinessOurs) -> str:
    parts = [engine.start("worker", rank, limit=0.2) for rank in range(2)]
    for part in parts:
        part.withdraw("reloading weights")
    waiting = engine.wait("worker")
    seen = engine.engine.statistics()
    seen = engine.engine.watch(seen, timeout=0.5)  # longer than the limit, in which nothing may change
    found = [(one["health"], one["reason"] or one["stage"]) for one in seen["parts"] if one["component"] == "worker"]
    if found != [("starting", "reloading weights")] * 2:
        return f"workers that reload are {found}"
    for part in parts:
        part.ready(limit=60)
    return "" if waiting.error() is None else f"the wait ends with {waiting.error()}"


RACE = ReadinessRace(("P2.1",), shipped, ours, "said to be dead")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
