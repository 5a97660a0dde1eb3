"""torn-read: a pair, or an array, is read while another one is written in its place."""

from tests.races.word_race import ExploredRace

RACE = ExploredRace(("torn-read",), symptom="which nobody wrote", program="torn-read")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
