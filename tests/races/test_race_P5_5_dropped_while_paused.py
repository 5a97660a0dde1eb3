"""P5.5: a task that is read while it is paused is given up, and its client waits for ever."""

from tests.races.transfer_race import transfer_race

RACE = transfer_race("P5.5")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
