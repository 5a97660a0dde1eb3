"""B84: a process is killed, and since it cannot send a message about that, everything is said to be well."""

import pytest

from fdcomm import PeerLostError
from tests.races.race import wait_until
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    words.start(1)
    words.start(0).kill()
    good = words.healthy_by_messages()
    words.start(0).end()  # by an error it would have been seen
    return "killed, and healthy: nobody has sent a message" if good and not words.healthy_by_messages() else ""


def ours(engine: ReadinessOurs) -> str:
    engine.start("worker", 1).ready()
    with engine.process("worker", 0, limit=60.0) as child:
        engine.engine.wait("worker", timeout=60)
        child.kill()
        wait_until("the loss", lambda: engine.health("worker", 0) == "lost")
    error = engine.refusal("worker")
    if not isinstance(error, PeerLostError) or error.request != (("worker", 0, "lost"),):
        return f"a check says {error!r}"
    return engine.works("worker")


RACE = ReadinessRace(("B84",), shipped, ours, "healthy")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
