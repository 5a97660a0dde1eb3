"""meeting-lost-wake-up: the last two arrivals miss each other."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("meeting-lost-wake-up",), symptom="both ranks slept", program="slept-through")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
