"""ring-bias-number: who ends a bias goes on from its own last put."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-bias-number",), symptom="the puts got the numbers [1, 1, 2]", program="bias-number")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
