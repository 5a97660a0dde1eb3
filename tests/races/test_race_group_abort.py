"""group-abort: a barrier is aborted while ranks wait at another one."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("group-abort",), symptom="another barrier was aborted", program="group-abort")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
