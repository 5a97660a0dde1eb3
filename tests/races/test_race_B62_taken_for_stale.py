"""B62: a segment that is being made is taken for a stale one and removed; two copies exist."""

from __future__ import annotations

import pytest

from tests.races.signal_race import UNSEEN_STEPS, Refused, SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    first, second, other = world.user(), world.user(), world.user()
    first.start("create", 1, stop_at="fill")
    second.do("create", 2)
    first.finish()
    first.do("write", 3)
    return (
        f"two copies: the first creator wrote 3, and who attaches reads {read}"
        if (read := other.do("attach")) != 3
        else ""
    )


def ours(world: SignalWorld) -> str:
    first, second, other = world.user(), world.user(), world.user()
    for step in UNSEEN_STEPS:
        first.start("create", 1, stop_at=step)
        try:
            second.do("create", 2, 0.01)
        except Refused as error:
            if error.kind != "CommTimeoutError":
                return f"at {step} a second creator is told {error}"
        else:
            return f"at {step} a second creator succeeds"
        first.finish()
        if step != UNSEEN_STEPS[-1]:
            first.do("clear")
    try:
        second.do("create", 2)
    except Refused as error:
        if error.kind != "SignalInUseError":
            return f"a second creator is told {error}"
    else:
        return "two copies"
    first.do("write", 3)
    return "" if other.do("attach") == 3 else "two copies"


RACE = SignalRace(("B62",), shipped, ours, "two copies")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
