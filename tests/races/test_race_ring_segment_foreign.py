"""ring-segment-foreign: a reader opens a segment that has become another message's."""

from tests.races.ring_segment_race import SegmentRace

RACE = SegmentRace(("ring-segment-foreign",), symptom="asked for message 1, the reader got message", program="foreign")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
