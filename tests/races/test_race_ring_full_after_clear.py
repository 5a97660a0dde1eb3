"""ring-full-after-clear: a put after a clear waits for readers."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-full-after-clear",), symptom="waits for a reader", program="full-after-clear")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
