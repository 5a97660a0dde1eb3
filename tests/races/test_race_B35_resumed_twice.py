"""B35: what a rank does in a second resume depends on whether it has heard of new work."""

from tests.races.pause_race import pause_race

RACE = pause_race("B35")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
