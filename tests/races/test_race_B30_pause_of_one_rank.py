"""B30: the pause of one rank returns while another rank works."""

from tests.races.pause_race import pause_race

RACE = pause_race("B30")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
