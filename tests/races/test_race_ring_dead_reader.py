"""ring-dead-reader (as B83): a reader dies before it acknowledges, and the writer waits for it for ever."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-dead-reader",), symptom="still waits for a reader that is dead", program="waits-for-the-dead")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
