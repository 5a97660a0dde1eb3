"""P12.3: both sides create the segment if it is missing; one removes what the other has just made."""

from __future__ import annotations

import pytest

from tests.races.signal_race import Refused, SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    first, second = world.user(), world.user()
    assert [first.do("probe"), second.do("probe")] == [False, False]
    first.do("create", 1)
    second.do("create", 2)
    first.do("write", 3)
    return "two memories: each side has its own" if second.do("read") != 3 else ""


def ours(world: SignalWorld) -> str:
    first, second = world.user(), world.user()
    assert [first.do("probe"), second.do("probe")] == [False, False]
    first.do("create", 1)
    try:
        second.do("create", 2)
    except Refused as error:
        if error.kind != "SignalInUseError":
            return f"the second is told {error}"
    second.do("attach")
    first.do("write", 3)
    if second.do("read") != 3:
        return "two memories: each side has its own"
    first.do("clear")
    return _other_software(world)


def _other_software(world: SignalWorld) -> str:
    """It makes the name, without a lock of ours, after a create has found it free."""
    maker = world.user()
    maker.start("create", 1, stop_at="TakeLock")
    world.path.write_bytes(bytes(4))
    try:
        maker.finish()
    except Refused as error:
        if error.kind != "SignalInUseError":
            return f"the creator is told {error}"
    else:
        return "the file of other software is replaced"
    return "" if world.path.stat().st_size == 4 else "the file of other software is replaced"


RACE = SignalRace(("P12.3",), shipped, ours, "two memories")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
