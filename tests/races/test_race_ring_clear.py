"""ring-clear: a message is taken back while a rank begins it."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-clear",), symptom="some ranks got the message and some did not", program="cleared")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
