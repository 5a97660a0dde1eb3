"""P5.1: two ranks take different branches of one round, and wait at two barriers."""

from tests.races.pause_race import pause_race

RACE = pause_race("P5.1")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
