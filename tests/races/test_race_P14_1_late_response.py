"""P14.1: a response that comes too late is read in place of the response to the next request."""

import pytest

from fdcomm.errors import CommTimeoutError, StaleAnswerError
from tests.conformance.waiting import Background
from tests.races.control_race import ControlOurs, ControlRace
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_control import LATE, ShippedEngine

pytestmark = pytest.mark.multiproc


def shipped(engine: ShippedEngine) -> str:
    first, second = engine.ranks
    number = engine.ask()
    first.step("first")
    if engine.gather(number) != LATE:
        return "the first request did not end without rank 1"
    second.step("first")  # too late
    number = engine.ask()
    for rank in engine.ranks:
        rank.step("second")
    answers = engine.gather(number)
    return "" if answers == ["second"] * 2 else f"of 2 ranks that did request {number}, a success names {answers}"


def ours(variant: ControlOurs) -> str:
    asked = Background(lambda: variant.client.ask("first", timeout=0.05))
    error = asked.error()
    if not isinstance(error, CommTimeoutError) or error.missing != (0, 1):
        return f"the first request ended with {error!r}"
    again = Background(lambda: variant.client.ask("again", timeout=WATCHDOG_S))
    held = [variant.take(rank) for rank in (0, 1)]
    variant.client.cancel()
    again.error()
    for request in held:
        try:
            request.answer("again")  # too late
        except StaleAnswerError:
            continue
        return "an answer to a request that has ended was taken"
    asked = Background(lambda: variant.client.ask("second", timeout=WATCHDOG_S))
    for rank in (0, 1):
        request = variant.take(rank)
        request.answer(request.payload)
    answers = [answer.value for answer in asked.value().answers]
    return "" if answers == ["second"] * 2 else f"the second request was answered with {answers}"


RACE = ControlRace(("P14.1",), shipped, ours, "a success names ['second']")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
