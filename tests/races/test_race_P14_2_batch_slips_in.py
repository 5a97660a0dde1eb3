"""P14.2: the engine sees that no batch is left, and another thread puts one before the request."""

import pytest

from tests.conformance.waiting import Background
from tests.races.control_race import ControlOurs, ControlRace
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_control import ShippedEngine

pytestmark = pytest.mark.multiproc


def shipped(engine: ShippedEngine) -> str:
    engine.begin_pause()
    if not engine.is_empty():
        return "a batch is left"
    engine.put("batch")  # another thread, between the look and the request
    number = engine.ask()
    for rank in engine.ranks:
        rank.step()
        rank.step()
    ran = engine.ranks[0].ran
    return "" if ran[0] == ("control", number) else f"the paused engine's ranks ran {ran[0]!r} before the request"


def ours(variant: ControlOurs) -> str:
    """The request needs no empty list, and its rank takes it before what was put earlier."""
    variant.engine.put_tasks("batch", timeout=WATCHDOG_S)
    asked = Background(lambda: variant.client.ask("pause", timeout=WATCHDOG_S))
    for rank in (0, 1):
        if variant.ranks[rank].num_tasks() != 1:
            return "the batch is not there"
        variant.take(rank).answer("paused")
    if [answer.value for answer in asked.value().answers] != ["paused"] * 2:
        return "the request was not done"
    batches = [queue.get_tasks()[0] for queue in variant.ranks]
    return "" if batches == [["batch"]] * 2 else f"after the request the ranks read {batches}"


RACE = ControlRace(("P14.2",), shipped, ours, "ranks ran 'batch' before the request")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
