"""B06: a put waits for a slow rank without a limit, and without a word."""

from tests.races.ring_race import RingRace

RACE = RingRace(("B06",), symptom="nobody is told", program="waits-for-the-slow")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
