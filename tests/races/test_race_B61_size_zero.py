"""B61: a create is several system calls, and an attach between them meets a segment of size 0."""

from __future__ import annotations

import pytest

from tests.races.signal_race import SEEN_STEP, UNSEEN_STEPS, Refused, SignalRace, SignalWorld

pytestmark = pytest.mark.multiproc


def shipped(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    maker.start("create", 5, stop_at="size")
    try:
        attacher.do("attach")
    except Refused as error:
        return f"an attach between two steps of a create ends with {error}"
    return ""


def ours(world: SignalWorld) -> str:
    maker, attacher = world.user(), world.user()
    maker.start("create", 5, stop_at=UNSEEN_STEPS[0])
    for step in UNSEEN_STEPS[1:]:
        try:
            attacher.do("attach", 0.01)
        except Refused as error:
            if error.kind != "CommTimeoutError":  # it says that a create is under way
                return f"before {step}: {error}"
        else:
            return f"before {step} there is something to attach"
        maker.go_on(step)
    maker.go_on(SEEN_STEP)
    return "" if attacher.do("attach", 0.01) == 5 else "what was published is not whole"


RACE = SignalRace(("B61",), shipped, ours, "ValueError")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
