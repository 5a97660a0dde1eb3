"""ring-bias-dead: the word that says that a process puts outlives the process."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-bias-dead",), symptom="the put still waits for a process that is dead", program="bias-dead")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
