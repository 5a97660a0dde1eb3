"""B37: the step after an update wants a lock that a frozen request holds until the resume."""

from tests.races.pause_race import pause_race

RACE = pause_race("B37")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
