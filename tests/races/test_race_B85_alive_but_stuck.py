"""B85: a process lives, and its loop stands still. Only its exit is looked at."""

import pytest

from fdcomm import CommTimeoutError
from tests.races.race import wait_until
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import LIMIT_S, ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    worker = words.start(0)
    worker.loop()
    worker.runs = False
    words.now += 100 * LIMIT_S
    return "the loop has stood still for ever, and the process is healthy" if words.healthy_by_exits() else ""


def ours(engine: ReadinessOurs) -> str:
    engine.start("worker", 1).ready()
    with engine.process("worker", 0, limit=0.5) as child:
        engine.engine.wait("worker", timeout=60)
        engine.stop(child)
        try:
            wait_until("the stall", lambda: engine.health("worker", 0) == "stuck")
            error = engine.refusal("worker")
            if not isinstance(error, CommTimeoutError) or error.request != (("worker", 0, "stuck"),):
                return f"a check says {error!r}"
            waiting = engine.wait("worker")
        finally:
            engine.go_on(child)
        if waiting.error() is not None:
            return f"the loop goes on, and who waits hears {waiting.error()!r}"
    return ""


RACE = ReadinessRace(("B85",), shipped, ours, "is healthy")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
