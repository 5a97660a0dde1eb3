"""ring-writer-restart: a restarted writer begins to count at the beginning."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-writer-restart",), symptom="no end", program="counts-anew")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
