"""late-sleeper: a job that was released meets the next pause before it wakes, and sleeps on while it counts."""

from tests.races.pause_race import pause_race

RACE = pause_race("late-sleeper")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
