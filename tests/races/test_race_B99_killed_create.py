"""B99: a create is killed between its system calls, and no later one works until somebody removes the file."""

from __future__ import annotations

import pytest

from tests.races.signal_race import Refused, SignalRace, SignalWorld, killed_in_a_create

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    maker = world.user()
    maker.start("create", 1, stop_at="size")
    maker.kill()
    maker.last_words()
    try:
        world.user().do("create", 2)
    except Refused as error:
        return f"every later create ends with {error}"
    return ""


def ours(world: SignalWorld) -> str:
    return killed_in_a_create(world)


RACE = SignalRace(("B99",), shipped, ours, "FileExistsError")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
