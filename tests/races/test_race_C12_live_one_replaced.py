"""C12, B56: a second instance under the same name replaces the segment of a living one, and nobody is told."""

from __future__ import annotations

import pytest

from tests.races.signal_race import Refused, SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    first, second, old, new = (world.user() for _ in range(4))
    first.do("create", 1)
    assert old.do("attach") == 1
    second.do("create", 2)
    first.do("write", 3)
    seen = (old.do("read"), new.do("attach"))
    return f"two memories under one name: {seen[0]} and {seen[1]}" if seen[0] != seen[1] else ""


def ours(world: SignalWorld) -> str:
    first, second, old, new = (world.user() for _ in range(4))
    first.do("create", 1)
    assert old.do("attach") == 1
    try:
        second.do("create", 2)
    except Refused as error:
        if error.kind != "SignalInUseError" or str(first.process.pid) not in str(error):
            return f"the second instance is told {error}"
    else:
        return "the second instance replaces the first"
    first.do("write", 3)
    seen = (old.do("read"), new.do("attach"))
    return "" if seen == (3, 3) else f"two memories: {seen}"


RACE = SignalRace(
    (
        "C12",
        "B56",
    ),
    shipped,
    ours,
    "two memories",
)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
