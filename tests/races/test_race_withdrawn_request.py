"""A rank does what was given up long ago, after what was asked later has been told of as done."""

import pytest

from fdcomm.errors import CommTimeoutError
from tests.conformance.waiting import Background
from tests.races.control_race import ControlOurs, ControlRace
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_control import LATE, ShippedEngine

pytestmark = pytest.mark.multiproc


def shipped(engine: ShippedEngine) -> str:
    (rank,) = engine.ranks
    number = engine.ask()
    if engine.gather(number) != LATE:
        return "the request did not end by its time"
    rank.step()
    return f"the rank does request {number}, which was given up" if rank.ran == [("control", number)] else ""


def ours(variant: ControlOurs) -> str:
    if not isinstance(Background(lambda: variant.client.ask("clear", timeout=0.0)).error(), CommTimeoutError):
        return "the request did not end by its time"
    if variant.servers[0].take() is not None:
        return "the rank was given a request that had ended"
    asked = Background(lambda: variant.client.ask("resume", timeout=WATCHDOG_S))
    request = variant.take(0)
    request.answer(request.payload)
    answers = [answer.value for answer in asked.value().answers]
    return "" if answers == ["resume"] else f"the rank did {answers}"


RACE = ControlRace(("withdrawn-request",), shipped, ours, "which was given up", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
