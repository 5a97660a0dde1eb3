"""P6.3: the slot of a rank that died says for ever that it is active."""

from tests.races.pause_race import pause_race

RACE = pause_race("P6.3")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
