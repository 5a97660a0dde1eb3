"""group-mixed: two ranks wait at different barriers, and let each other through."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("group-mixed",), symptom="at another barrier", program="group-mixed")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
