"""B32: a mark on a request that is over is consumed by nobody, and the pause waits for it."""

from tests.races.pause_race import pause_race

RACE = pause_race("B32")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
