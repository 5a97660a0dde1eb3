"""ring-come-back: a rank comes back while the writer looks who is counted."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-come-back",), symptom="was overwritten", program="comes-back")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
