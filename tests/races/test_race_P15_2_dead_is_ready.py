"""P15.2: a rank that dies after it has raised its flag counts as ready for ever."""

import pytest

from fdcomm import PeerLostError
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    words.start(1).kill()
    words.start(0)
    return "launched with a rank that is dead" if words.launch(looks=3) else ""


def ours(engine: ReadinessOurs) -> str:
    engine.start("cache", 1).ready()
    waiting = engine.wait("cache")
    patient = engine.wait("cache", restarts=True)
    engine.lose("cache", 1)
    error = waiting.error()
    if not isinstance(error, PeerLostError) or ("cache", 1, "lost") not in error.request:  # type: ignore[operator]
        return f"the launcher hears {error!r}"
    if not patient.is_running():
        return f"who waits for the restart hears {patient.error()!r}"
    engine.all_ready("cache")
    return "" if patient.error() is None else f"after the restart: {patient.error()!r}"


RACE = ReadinessRace(("P15.2",), shipped, ours, "rank that is dead")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
