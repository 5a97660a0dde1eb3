"""B38: the flush after an update wants that no request waits, and those that came in the pause wait for its end."""

from tests.races.pause_race import pause_race

RACE = pause_race("B38")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
