"""group-count: who passes is killed between the count and the turn."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("group-count",), symptom="rounds were passed, and the counts are", program="group-count")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
