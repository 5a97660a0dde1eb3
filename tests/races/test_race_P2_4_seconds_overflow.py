"""P2.4: the time of a round is kept as an int32 of unix seconds, which ends in 2038."""

import pytest

from fdcomm.host import beats
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    worker = words.start(0)
    words.now = 2**31
    try:
        worker.loop()
    except (OverflowError, ValueError) as error:
        return f"the worker's loop ends with {type(error).__name__} in 2038"
    return ""


def ours(engine: ReadinessOurs) -> str:
    parts = [engine.start("worker", rank, limit=60.0) for rank in range(2)]
    for part in parts:
        part.ready()
        part.beat()
    later = 2.0**31 * 3  # seconds since the boot: two centuries
    if beats.age_of(beats.stamp(7, later), 7, later + 31.0) != 31.0:
        return "a stamp does not last for centuries"
    error = engine.refusal("worker")
    return "" if error is None else f"parts that beat: {error!r}"


RACE = ReadinessRace(("P2.4",), shipped, ours, "in 2038")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
