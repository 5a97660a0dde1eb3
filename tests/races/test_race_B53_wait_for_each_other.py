"""B53: with some options the cache process waits for what the worker measures, and the worker for the cache."""

import pytest

from fdcomm import ConfigError, ProtocolViolationError
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    cache, worker = words.start(0, loads=False), words.start(1, loads=False)
    for _ in range(1000):  # each looks for the other's flag
        if words.ready[1]:
            cache.load()
        if words.ready[0]:
            worker.load()
    return "" if words.launched() else "cache and worker wait for each other"


def ours(engine: ReadinessOurs) -> str:
    try:
        engine.engine.declare([("cache", 2, ["worker"]), ("worker", 2, ["cache"])])
        return "a circle was declared"
    except ConfigError as error:
        if "circle" not in str(error):
            return f"a circle: {error}"
    cache = [engine.start("cache", rank) for rank in range(2)]
    worker = engine.start("worker", 0)
    try:
        cache[0].wait("worker")
        return "the cache has waited for the worker, which needs it"
    except ProtocolViolationError as error:
        if "launch order" not in str(error):
            return f"a wait against the order: {error}"
    for part in cache:
        part.ready()
    worker.wait("cache", timeout=60)
    worker.ready()
    return ""


RACE = ReadinessRace(("B53",), shipped, ours, "wait for each other")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
