"""A sender that sends again what it was not told of has it handled twice, where nobody knows numbers."""

import pytest
import zmq

from fdcomm.mq.link import ZmqLink
from tests.races.fmq_race import FmqOurs, FmqRace, FmqShipped
from tests.races.pipes import WATCHDOG_S
from tests.races.race import wait_until

pytestmark = pytest.mark.multiproc


def shipped(variant: FmqShipped) -> str:
    consumer = variant.consumer()
    context = zmq.Context()
    push = context.socket(zmq.PUSH)
    try:
        push.connect(f"ipc://{variant.path}")
        push.send_pyobj("charge the card")
        # Its caller saw an error, or nothing, and tries again.
        push.send_pyobj("charge the card")
        came = [consumer.get(WATCHDOG_S), consumer.get(WATCHDOG_S)]
        return "it is handled twice" if came == ["charge the card"] * 2 else f"{came} came"
    finally:
        context.destroy(linger=0)


def ours(variant: FmqOurs) -> str:
    consumer, producer = variant.queue("consumer", ack_every=100), variant.queue()
    producer.put("charge the card")
    if consumer.get(WATCHDOG_S).payload != "charge the card":
        return "something else came"
    # The connection breaks before the acknowledgement, and all that is not acknowledged is sent again.
    inner = producer._producer
    assert inner is not None
    with inner._lock:
        link = inner._link
        assert isinstance(link, ZmqLink)
        link._state = "down"
    inner._line.ring()
    wait_until("a new connection", lambda: inner.statistics().connections == 2 and inner.statistics().connected)
    producer.put("the next one")
    message = consumer.get(WATCHDOG_S)
    dropped = consumer.statistics().duplicates  # type: ignore[union-attr]
    return "" if (message.payload, dropped) == ("the next one", 1) else f"{message.payload!r} came"


RACE = FmqRace(("message-twice",), shipped, ours, "it is handled twice")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
