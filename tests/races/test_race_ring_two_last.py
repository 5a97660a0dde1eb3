"""ring-two-last: two readers store at the same time, and both, or neither, are told that all ranks have the message."""

from tests.races.ring_race import RingRace

RACE = RingRace(("ring-two-last",), symptom="told were []", program="two-last")
BOTH = RingRace(("ring-two-last",), symptom="told were [(1, ", program="two-last-fenced")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_with_a_fence_both_are_told() -> None:
    message = BOTH.on_shipped()
    assert BOTH.symptom in message
    assert message.count("(1, ") == 2


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
