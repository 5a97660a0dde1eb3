"""P5.9: a pause before the first round finds every slot inactive."""

from tests.races.pause_race import pause_race

RACE = pause_race("P5.9")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
