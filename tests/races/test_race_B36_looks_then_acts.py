"""B36, P6.4: somebody relies on a pause that ends after it has looked."""

from tests.races.pause_race import pause_race

RACE = pause_race("B36", "P6.4")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
