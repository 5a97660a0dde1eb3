"""ring-taken-for-fenced: a reader whose message was taken back believes that it was given up."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-taken-for-fenced",), symptom="nobody was given up", program="taken-for-fenced")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
