"""late-ready: a process that was given up for dead comes to its flag after its successor has lowered it."""

import contextlib

import pytest

from fdcomm import FdcommError
from tests.races.readiness_race import ReadinessOurs, ReadinessRace, is_late
from tests.races.shipped_readiness import ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    words.start(0)
    slow = words.start(1, loads=False)  # the launcher loses patience and starts another one
    successor = words.start(1, loads=False)
    slow.load()
    return "launched with a process that has not loaded" if words.launched() and not successor.loaded else ""


def ours(engine: ReadinessOurs) -> str:
    engine.start("cache", 0).ready()
    slow = engine.start("cache", 1)
    queue = engine.queues["cache", 1]
    queue._release(goodbye=False)  # its connection is cut
    engine.start("cache", 1)
    with contextlib.suppress(FdcommError):
        slow.ready()
        return "a process without a connection has said that it is ready"
    error = engine.refusal("cache")
    if not is_late(error, ("cache", 1, "starting")):
        return f"it speaks for its successor: {error!r}"
    return ""


RACE = ReadinessRace(("late-ready",), shipped, ours, "has not loaded")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
