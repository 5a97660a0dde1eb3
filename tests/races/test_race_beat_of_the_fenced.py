"""beat-of-the-fenced: the loop of a process that was replaced keeps the time of its stuck successor fresh."""

import pytest

from fdcomm.host import beats
from tests.races.race import wait_until
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import LIMIT_S, ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    old = words.start(0)
    successor = words.start(0)
    successor.loop()
    successor.runs = False
    words.now += 10 * LIMIT_S
    old.loop()
    return "rank 0 is stuck, and healthy by the loop of the process before it" if words.healthy() else ""


def ours(engine: ReadinessOurs) -> str:
    engine.start("worker", 1).ready()
    old = engine.start("worker", 0, limit=60.0)
    old.ready()
    word, inc, page = old._loop._word, old._loop._inc, engine.server._page
    engine.lose("worker", 0)
    new = engine.start("worker", 0, limit=0.2)
    new.ready()
    assert page is not None

    def stuck() -> bool:
        page.words[word] = beats.stamp(inc, old._queue._runtime.monotonic())  # as the old process would
        return engine.health("worker", 0) == "stuck"

    wait_until("the stall", stuck)
    new.beat()
    return "" if engine.health("worker", 0) == "ready" else "the part does not recover"


RACE = ReadinessRace(("beat-of-the-fenced",), shipped, ours, "the process before it")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
