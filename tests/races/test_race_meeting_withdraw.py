"""meeting-withdraw: a rank gives up waiting while the last one counts it."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("meeting-withdraw",), symptom="met nobody", program="withdrawn")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
