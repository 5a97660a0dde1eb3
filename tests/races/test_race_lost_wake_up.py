"""lost-wake-up: a setter looks whether anybody waits while its store is still on its way to memory."""

from tests.races.word_race import ExploredRace

RACE = ExploredRace(("lost-wake-up",), symptom="slept through its wake-up", program="lost-wake-up")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
