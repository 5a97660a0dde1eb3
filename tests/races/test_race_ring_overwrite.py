"""ring-overwrite: the writer goes round the ring, past a reader."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-overwrite",), symptom="the reader got [2]", program="overwritten")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
