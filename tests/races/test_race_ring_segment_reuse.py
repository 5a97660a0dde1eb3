"""ring-segment-reuse: a segment is used again although its message is still to be read."""

from tests.races.ring_segment_race import SegmentRace

RACE = SegmentRace(
    ("ring-segment-reuse",), symptom="asked for message 1, the rank that came back got message {2}", program="reused"
)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
