"""meeting-fence: who gives a rank up is killed between its two stores."""

from tests.races.meeting_race import MeetingRace

RACE = MeetingRace(("meeting-fence",), symptom="was given up", program="half-given-up")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
