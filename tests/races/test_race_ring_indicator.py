"""ring-indicator (B02 at a ring): an indicator beside the messages loses a put."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-indicator",), symptom="a message waits", program="indicator")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
