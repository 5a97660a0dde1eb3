"""meeting-labels: a rank is one round ahead of another one."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("meeting-labels",), symptom="in different rounds have met", program="labels")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
