"""B10: each rank looks at its own pause, so a pause is reached with a task that only some have read."""

from tests.races.transfer_race import transfer_race

RACE = transfer_race("B10")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
