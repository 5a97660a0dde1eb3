"""meeting-come-back: a process that was given up goes on."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("meeting-come-back",), symptom="was given up was told", program="comes-back")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
