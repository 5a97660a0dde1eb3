"""B87: the front end accepts requests for workers that are gone, and nobody answers them."""

import pytest

from fdcomm import PeerLostError
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    workers = [words.start(rank) for rank in range(2)]
    assert words.launched()
    for worker in workers:
        worker.kill()
    words.accept("a request")
    for worker in workers:
        worker.serve()
    return "" if words.answered else f"{words.accepted[0]} was accepted, and gets neither an answer nor an error"


def ours(engine: ReadinessOurs) -> str:
    engine.all_ready("worker")
    if engine.refusal("worker") is not None:
        return f"healthy workers: {engine.refusal('worker')!r}"
    seen = engine.engine.statistics()
    for rank in range(2):
        engine.lose("worker", rank)
    if engine.engine.watch(seen, timeout=60)["changes"] == seen["changes"]:
        return "who watches is not told"
    error = engine.refusal("worker")
    if not isinstance(error, PeerLostError) or error.missing != (0, 1):
        return f"a request is refused with {error!r}"
    return engine.works("worker")


RACE = ReadinessRace(("B87",), shipped, ours, "neither an answer nor an error")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
