"""P14.4: pausing fails in the middle, its caller is told so, and the engine stays paused."""

import pytest

from tests.conformance.waiting import Background
from tests.races.control_race import ControlOurs, ControlRace
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_control import ShippedEngine

pytestmark = pytest.mark.multiproc


def _fails() -> None:
    raise RuntimeError("a request could not be aborted")


def shipped(engine: ShippedEngine) -> str:
    try:
        engine.begin_pause()
    except RuntimeError:
        return "the pause failed, and the engine is paused" if engine.is_paused else ""
    return "the abort did not fail"


def ours(variant: ControlOurs) -> str:
    """What was done is what the ranks have answered: there is no mark beside it that could say something else."""
    asked = Background(lambda: variant.client.ask("pause", timeout=WATCHDOG_S))
    variant.take(0).answer("paused")
    variant.take(1).fail("a request could not be aborted")
    result = asked.value()
    if result.ok or result.failed != (1,) or "aborted" not in result.answers[1].value:
        return f"the result does not say who failed and why: {result}"
    asked = Background(lambda: variant.client.ask("resume", timeout=WATCHDOG_S))
    for rank in (0, 1):
        variant.take(rank).answer("resumed")
    return "" if asked.value().ok else "the pause that failed cannot be taken back"


RACE = ControlRace(("P14.4",), shipped, ours, "the pause failed, and the engine is paused", abort=_fails)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
