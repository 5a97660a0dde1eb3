"""B30, B33: a rank that has stopped takes no task, and another one waits in that task for it."""

from tests.races.pause_race import pause_race

RACE = pause_race("B33 split", "B30")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
