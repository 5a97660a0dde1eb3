"""ring-zombie: a reader that was given up while it copied goes on."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-zombie",), symptom="asked for message 1", program="zombie")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
