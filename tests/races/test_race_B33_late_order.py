"""B33: a late message undoes a pause."""

from tests.races.pause_race import pause_race

RACE = pause_race("B33")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
