"""A producer sends a large payload and ends before it is read: its segment goes with it."""

import os
import subprocess
import sys

import pytest

from tests.races.fmq_race import FmqOurs, FmqRace, FmqShipped
from tests.races.pipes import ROOT, WATCHDOG_S
from tests.races.race import wait_until
from tests.races.shipped_fmq import EMPTY, exited_producer

pytestmark = pytest.mark.multiproc

SIZE = 2 << 20
PROGRAM = """
import sys
from fdcomm.mq import Config, Queue
queue = Queue("race", "producer", Config(ipc_root=sys.argv[1]))
queue.put(b"x" * int(sys.argv[2]))
queue.close(float(sys.argv[3]))
"""


def shipped(variant: FmqShipped) -> str:
    consumer = variant.consumer()
    segment = exited_producer(variant.path, SIZE)
    wait_until("the tracker has ended", lambda: not os.path.exists(segment))
    message = consumer.get(WATCHDOG_S)
    return "the payload is empty" if message == EMPTY else f"{len(message or EMPTY)} bytes came"


def ours(variant: FmqOurs) -> str:
    consumer = variant.queue("consumer")
    # It waits for an acknowledgement, which nobody gives, and ends all the same.
    command = [sys.executable, "-c", PROGRAM, variant.root, str(SIZE), "0.5"]
    subprocess.run(command, check=True, timeout=WATCHDOG_S, cwd=ROOT, capture_output=True)
    message = consumer.get(WATCHDOG_S)
    return "" if message.payload == b"x" * SIZE else f"{len(message.payload)} bytes came"


RACE = FmqRace(("payload-lost",), shipped, ours, "the payload is empty")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
