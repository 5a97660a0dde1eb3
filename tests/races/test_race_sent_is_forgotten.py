"""A consumer is killed before it has handled what was sent: nobody has it any more."""

import subprocess
import sys

import pytest
import zmq

from tests.races.fmq_race import FmqOurs, FmqRace, FmqShipped
from tests.races.pipes import ROOT, WATCHDOG_S

pytestmark = pytest.mark.multiproc

SHIPPED = """
import sys, time, zmq
pull = zmq.Context().socket(zmq.PULL)
pull.bind("ipc://" + sys.argv[1])
print(pull.recv(), flush=True)
time.sleep(600)
"""
OURS = """
import sys, time
from fdcomm.mq import Config, Queue
queue = Queue("race", "consumer", Config(ipc_root=sys.argv[1]))
print(queue.get(60).payload, flush=True)
time.sleep(600)
"""


def _killed(program: str, where: str, after: object) -> None:
    """Run a consumer until it has its first message, and kill it."""
    command = [sys.executable, "-c", program, where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as consumer:
        assert consumer.stdout is not None
        assert callable(after)
        after()
        consumer.stdout.readline()
        consumer.kill()


def shipped(variant: FmqShipped) -> str:
    context = zmq.Context()
    push = context.socket(zmq.PUSH)
    try:
        push.connect(f"ipc://{variant.path}")
        _killed(SHIPPED, variant.path, lambda: [push.send_pyobj(number) for number in (1, 2)])
        second = variant.consumer()
        push.send_pyobj(3)
        message = second.get(WATCHDOG_S)
        return "the next consumer begins with 3" if message == 3 else f"it begins with {message}"
    finally:
        context.destroy(linger=0)


def ours(variant: FmqOurs) -> str:
    producer = variant.queue()
    _killed(OURS, variant.root, lambda: [producer.put(number) for number in (1, 2)])
    second = variant.queue("consumer")
    producer.put(3)
    came = [second.get(WATCHDOG_S).payload for _ in range(3)]
    return "" if came == [1, 2, 3] else f"the next consumer was given {came}"


RACE = FmqRace(("sent-is-forgotten",), shipped, ours, "the next consumer begins with 3")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
