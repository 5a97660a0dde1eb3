"""ring-late-look: a reader that looked before a clear copies what was put after it."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-late-look",), symptom="asked for message 1", program="late-look")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
