"""ring-segment-gone: a segment is removed although its message is still to be read."""

from tests.races.ring_segment_race import SegmentRace

RACE = SegmentRace(("ring-segment-gone",), symptom="the payload's segment is gone", program="gone")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
