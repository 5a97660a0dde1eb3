"""B69: that the segment exists is taken for 'its content is there': an attacher reads zeros."""

from __future__ import annotations

import pytest

from tests.races.signal_race import SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    maker.start("create", 5, stop_at="fill")
    return f"an attacher reads {attacher.do('attach')}, and 5 is written later"


def ours(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    attacher.start("attach", stop_at="Open")  # nothing there, yet
    maker.start("create", 5, stop_at="Allocate")
    maker.finish()
    read = attacher.finish()
    return "" if read == 5 else f"an attacher reads {read}"


RACE = SignalRace(("B69",), shipped, ours, "reads 0")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
