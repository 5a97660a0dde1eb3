"""B05: a reader sees the number that announces a message before the message."""

from tests.races.ring_race import RingRace

RACE = RingRace(("B05",), symptom="instead of message 1", program="number-first")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
