"""B39: one front end pauses, and another one updates before it has heard of that."""

from tests.races.pause_race import pause_race

RACE = pause_race("B39")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
