"""G10: the maker is started again; who had attached keeps the old memory, and does not know it."""

from __future__ import annotations

import pytest

from tests.races.signal_race import SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    maker.do("create", 1)
    assert attacher.do("attach") == 1
    maker.kill()
    maker.last_words()
    world.user().do("create", 2)
    return "the attacher keeps the old memory, and nothing tells it" if attacher.do("read") == 1 else ""


def ours(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    maker.do("create", 1)
    assert attacher.do("attach") == 1
    maker.kill()
    if attacher.do("superseded"):
        return "told before anything has changed"
    again = world.user()
    again.do("create", 2)
    if not attacher.do("superseded"):
        return "the attacher keeps the old memory, and nothing tells it"
    return "" if attacher.do("attach") == 2 and not attacher.do("superseded") else "attaching again does not help"


RACE = SignalRace(("G10",), shipped, ours, "keeps the old memory")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
