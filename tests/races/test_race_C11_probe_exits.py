"""C11: a process that only asked whether the segment exists exits, and its tracker removes it."""

from __future__ import annotations

import pytest

from tests.races.signal_race import SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    maker, asker = world.user(), world.user()
    maker.do("create", 5)
    assert asker.do("probe")
    asker.exit()
    asker.last_words()  # its tracker has ended
    return "" if world.there() else "the segment of a living maker is gone for everybody"


def ours(world: SignalWorld) -> str:
    maker, asker = world.user(), world.user()
    assert not asker.do("probe")
    maker.do("create", 5)
    assert asker.do("probe")
    if asker.do("tracker") is not None:
        return "a question has started a tracker"
    asker.exit()
    asker.last_words()
    return "" if world.user().do("attach") == 5 else "another memory has the name"


RACE = SignalRace(("C11",), shipped, ours, "is gone for everybody")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
