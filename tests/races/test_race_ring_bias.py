"""ring-bias: a process looks whether it may put without the lock, and says then that it does."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-bias",), symptom="the puts got the numbers [1, 2, 2]", program="bias")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
