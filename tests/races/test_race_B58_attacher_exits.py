"""B58: a process that only attached exits, and its tracker removes the segment of its living maker."""

from __future__ import annotations

import pytest

from tests.races.signal_race import SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    maker.do("create", 5)
    assert attacher.do("attach") == 5
    attacher.exit()
    attacher.last_words()  # its tracker has ended
    return "" if world.there() else "the segment of a living maker is gone for everybody"


def ours(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    maker.do("create", 5)
    assert attacher.do("attach") == 5
    if attacher.do("tracker") is not None:
        return "an attach has started a tracker"
    attacher.exit()
    attacher.last_words()
    maker.do("write", 6)
    return "" if world.user().do("attach") == 6 else "another memory has the name"


RACE = SignalRace(("B58",), shipped, ours, "is gone for everybody")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
