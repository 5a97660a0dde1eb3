"""meeting-dead-rank: a rank dies before it arrives."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("meeting-dead-rank",), symptom="still waits for one that is dead", program="waits-for-the-dead")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
