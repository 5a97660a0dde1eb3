"""B31: a pause stops the loop that ends what it waits for."""

from tests.races.pause_race import pause_race

RACE = pause_race("B31")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
