"""B28, P5.4: += and -= of two threads lose an update, and a pause waits for ever or returns too early."""

from tests.races.pause_race import pause_race

RACE = pause_race("B28", "P5.4")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
