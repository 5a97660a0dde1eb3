"""P15.3: a process dies, or fails, while it comes up, and the launcher waits for its flag for ever."""

import pytest

from fdcomm import PeerLostError, StartFailedError
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    words.start(0, loads=False).kill()
    words.start(1)
    # Exit codes are looked at after this wait, and of the last process only.
    return "" if words.launch(looks=1000) else "rank 0 has died, and the launcher waits for ever"


def ours(engine: ReadinessOurs) -> str:
    parts = [engine.start("cache", rank) for rank in range(2)]
    parts[1].ready()
    waiting = engine.wait("cache")
    parts[0].failed("no memory for the cache")
    error = waiting.error()
    if not isinstance(error, StartFailedError) or "cache 0 is failed: no memory for the cache" not in str(error):
        return f"the launcher hears {error!r} of a failure"
    parts[0].starting("cache", 0, stage="again, with less")
    waiting = engine.wait("cache")
    engine.lose("cache", 0)
    error = waiting.error()
    if not isinstance(error, PeerLostError) or error.request != (("cache", 0, "lost"),):
        return f"the launcher hears {error!r} of a death"
    return engine.works("cache")


RACE = ReadinessRace(("P15.3",), shipped, ours, "the launcher waits for ever")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
