"""P5.7: one rank meets an error between two barriers, and begins a new round alone."""

from tests.races.transfer_race import transfer_race

RACE = transfer_race("P5.7")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
