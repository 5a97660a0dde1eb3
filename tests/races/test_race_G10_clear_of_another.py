"""G10: a handle whose segment was replaced clears, and removes the one that has the name now."""

from __future__ import annotations

import pytest

from tests.races.signal_race import SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    first, second = world.user(), world.user()
    first.do("create", 1)
    second.do("create", 2)
    first.do("clear")
    return "" if world.there() else "a clear removes the segment of another"


def ours(world: SignalWorld) -> str:
    first, second, attacher = world.user(), world.user(), world.user()
    first.do("create", 1)
    second.do("replace", 2)
    if not first.do("superseded"):
        return "the first is not told"
    first.do("clear")
    if attacher.do("attach") != 2 or second.do("superseded"):
        return "a clear removes the segment of another"
    attacher.do("clear")  # it owns nothing
    return "" if world.there() else "an attacher's clear removes the segment"


RACE = SignalRace(("G10",), shipped, ours, "removes the segment of another")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
