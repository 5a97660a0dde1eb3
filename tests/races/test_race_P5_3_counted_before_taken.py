"""P5.3: a task is counted, and there is none: the counter never comes back."""

from tests.races.pause_race import pause_race

RACE = pause_race("P5.3")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
