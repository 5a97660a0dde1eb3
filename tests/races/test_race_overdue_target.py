"""overdue-target: a transfer has failed by its time limit, and writes on to blocks that another request has."""

from tests.races.transfer_race import transfer_race

RACE = transfer_race("overdue-target")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
