"""group-apart: all ranks wait, and not all at one barrier."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("group-apart",), symptom="waited at different barriers", program="group-apart")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
