"""B59: an attach takes its entry in the tracker back, which is also its maker's: nobody cleans up after a kill."""

from __future__ import annotations

import pytest

from tests.races.signal_race import SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    maker = world.user()
    maker.do("create", 5)
    assert maker.do("attach_in_a_child") > 0
    maker.kill()
    maker.last_words()  # the tracker of its tree has ended
    return "the maker was killed, and nobody removes it" if world.there() else ""


def ours(world: SignalWorld) -> str:
    maker = world.user()
    maker.do("create", 5)
    if maker.do("attach_in_a_child"):
        return "there is a tracker"
    assert world.user().do("attach") == 5
    maker.kill()
    if said := maker.last_words():
        return f"somebody says {said!r}"
    successor = world.user()
    successor.do("create", 6)  # what is left has no owner, so it is replaced
    successor.do("clear")
    return "something is left" if world.there() else ""


RACE = SignalRace(("B59",), shipped, ours, "nobody removes it")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
