"""P4.1: the transfer of one rank raises between the barriers of a task; the others wait for ever."""

from tests.races.transfer_race import transfer_race

RACE = transfer_race("P4.1")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
