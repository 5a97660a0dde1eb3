"""ring-lost-wake-up: who puts looks for sleepers while its store is still on its way."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-lost-wake-up",), symptom="slept through its wake-up", program="slept-through")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
