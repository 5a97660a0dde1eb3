"""ring-segment-left: a segment stays when nobody needs it any more."""

from tests.races.ring_segment_race import SegmentRace

RACE = SegmentRace(("ring-segment-left",), symptom="at the end there are", program="left")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
