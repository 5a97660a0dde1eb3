"""B29: a pause finds no task while a loop is past its look and before its submission."""

from tests.races.pause_race import pause_race

RACE = pause_race("B29")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
