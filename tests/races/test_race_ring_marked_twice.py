"""ring-marked-twice: a second clear takes a slot that is in use again for what the first one took back."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-marked-twice",), symptom="in its slot is -1", program="marked-twice")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
