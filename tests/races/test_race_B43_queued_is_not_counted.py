"""B43: a task that waits in the pool does not count."""

from tests.races.pause_race import pause_race

RACE = pause_race("B43")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
