"""B34: the host is done with a request whose step is still on the device."""

from tests.races.pause_race import pause_race

RACE = pause_race("B34")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
