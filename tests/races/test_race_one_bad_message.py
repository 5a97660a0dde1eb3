"""A message that cannot be decoded closes the consumer, and what came after it is gone."""

import pickle

import pytest
import zmq

from fdcomm.errors import UndecodableError
from tests.races.fmq_race import FmqOurs, FmqRace, FmqShipped
from tests.races.pipes import WATCHDOG_S

pytestmark = pytest.mark.multiproc


class Unloadable:
    """Pickles, and cannot be loaded."""

    def __reduce__(self) -> tuple[object, ...]:
        return (_raise, ())


def _raise() -> None:
    raise LookupError("its class is not here")


def shipped(variant: FmqShipped) -> str:
    consumer = variant.consumer()
    context = zmq.Context()
    push = context.socket(zmq.PUSH)
    try:
        push.connect(f"ipc://{variant.path}")
        push.send(b"no pickle")
        push.send(pickle.dumps("after it"))
        try:
            consumer.get(WATCHDOG_S)
        except pickle.UnpicklingError:
            return "the consumer is closed" if consumer.get(1.0) is None and consumer.closed else ""
        return ""
    finally:
        context.destroy(linger=0)


def ours(variant: FmqOurs) -> str:
    consumer, producer = variant.queue("consumer"), variant.queue()
    producer.put(Unloadable())
    producer.put("after it")
    try:
        return f"{consumer.get(WATCHDOG_S).payload!r} came"
    except UndecodableError:
        return "" if consumer.get(WATCHDOG_S).payload == "after it" else "something else came after it"


RACE = FmqRace(("one-bad-message",), shipped, ours, "the consumer is closed")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
