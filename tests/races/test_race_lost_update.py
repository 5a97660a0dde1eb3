"""lost-update: += on shared memory is a load and a store, and what another process stores between them is lost."""

from tests.races.word_race import ExploredRace

RACE = ExploredRace(("lost-update",), symptom="two added 1, and the value is 1", program="lost-update")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
