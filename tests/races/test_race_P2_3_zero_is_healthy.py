"""P2.3: a rank that died before its first round, or never came, has a 0, which counts as healthy."""

import pytest

from fdcomm import CommTimeoutError, PeerLostError
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import LIMIT_S, ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    words.start(0).kill()
    words.now += 10 * LIMIT_S
    return "rank 0 was killed before its first round, and is healthy for ever" if words.healthy() else ""


def ours(engine: ReadinessOurs) -> str:
    error = engine.refusal("cache")
    if not isinstance(error, CommTimeoutError) or error.request != (("cache", 0, "away"), ("cache", 1, "away")):
        return f"parts that never came: {error!r}"
    for rank in range(2):
        engine.start("cache", rank)
    engine.lose("cache", 0)
    error = engine.refusal("cache")
    if not isinstance(error, PeerLostError) or error.request[0] != ("cache", 0, "lost"):  # type: ignore[index]
        return f"a part that died before its first round: {error!r}"
    return engine.works("cache")


RACE = ReadinessRace(("P2.3",), shipped, ours, "healthy for ever")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
