"""B98: a process that attached, or one that is killed, ends in its tracker's complaints about leaked segments."""

from __future__ import annotations

import pytest

from tests.races.signal_race import SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def _messages(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    maker.do("create", 1)
    attacher.do("attach")
    attacher.exit()
    said = attacher.last_words()
    maker.kill()
    return said + maker.last_words()


def shipped(world: SignalWorld) -> str:
    return _messages(world)


def ours(world: SignalWorld) -> str:
    return _messages(world)


RACE = SignalRace(("B98",), shipped, ours, "leaked shared_memory")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
