"""A second consumer binds the path of a live one, and gets what the first one was to get."""

import pytest
import zmq

from fdcomm.errors import AddressInUseError
from tests.races.fmq_race import FmqOurs, FmqRace, FmqShipped
from tests.races.pipes import WATCHDOG_S

pytestmark = pytest.mark.multiproc


def shipped(variant: FmqShipped) -> str:
    first, second = variant.consumer(), variant.consumer()
    context = zmq.Context()
    push = context.socket(zmq.PUSH)
    try:
        push.connect(f"ipc://{variant.path}")
        push.send_pyobj("for the first")
        message = second.get(WATCHDOG_S)
        return "the second has it" if message == "for the first" and first.get(0.0) is None else f"{message!r} came"
    finally:
        context.destroy(linger=0)


def ours(variant: FmqOurs) -> str:
    first = variant.queue("consumer")
    try:
        variant.queue("consumer")
    except AddressInUseError:
        variant.queue().put("for the first")
        return "" if first.get(WATCHDOG_S).payload == "for the first" else "the first has something else"
    return "the second was let in"


RACE = FmqRace(("path-stolen",), shipped, ours, "the second has it")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
