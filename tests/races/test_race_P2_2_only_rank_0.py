"""P2.2: only the first rank is looked at, and another one is dead."""

import pytest

from fdcomm import PeerLostError
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import LIMIT_S, ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    workers = [words.start(rank) for rank in range(2)]
    workers[1].kill()
    words.now += LIMIT_S + 5
    workers[0].loop()
    return "rank 1 is dead, and the health check says good" if words.healthy() else ""


def ours(engine: ReadinessOurs) -> str:
    engine.all_ready("worker")
    engine.lose("worker", 1)
    error = engine.refusal("worker")
    if not isinstance(error, PeerLostError) or error.request != (("worker", 1, "lost"),):
        return f"a check says {error!r}"
    return engine.works("worker")


RACE = ReadinessRace(("P2.2",), shipped, ours, "health check says good")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
