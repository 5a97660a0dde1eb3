"""A producer is killed between its payload and its message: the segment stays for ever."""

import os
import subprocess
import sys

import pytest

from fdcomm.mq.payloads import Payloads
from tests.races.fmq_race import FmqOurs, FmqRace, FmqShipped
from tests.races.pipes import ROOT, WATCHDOG_S
from tests.races.race import wait_until

pytestmark = pytest.mark.multiproc

SHIPPED = """
import os, sys
from multiprocessing import resource_tracker, shared_memory
segment = shared_memory.SharedMemory(create=True, size=1 << 20)
print(segment.name, flush=True)
os.kill(resource_tracker._resource_tracker._pid, 9)  # as a kill of the whole group does
os.kill(os.getpid(), 9)
"""
OURS = """
import os, sys
from fdcomm.mq import Config, Queue
queue = Queue("race", "producer", Config(ipc_root=sys.argv[1]))
queue.put("known")
queue.flush(60)
queue._producer._sender.put = lambda item: os.kill(os.getpid(), 9)
queue.put(b"x" * (2 << 20))
"""


def _killed(program: str, *args: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", program, *args]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=WATCHDOG_S, cwd=ROOT)
    return done.stdout.decode().strip()


def shipped(variant: FmqShipped) -> str:
    variant.consumer()
    path = f"/dev/shm/{_killed(SHIPPED)}"
    if not os.path.exists(path):
        return "it is gone"
    os.unlink(path)
    return "the segment is there"


def ours(variant: FmqOurs) -> str:
    consumer = variant.queue("consumer")
    payloads = Payloads(f"{variant.root}/fmq_race.ipc")
    with subprocess.Popen([sys.executable, "-c", OURS, variant.root], cwd=ROOT) as producer:
        if consumer.get(WATCHDOG_S).payload != "known":
            return "something else came"
        consumer.done()
        producer.wait(WATCHDOG_S)
    if sum(map(len, payloads.listed().values())) != 1:
        return "the producer has left no payload"
    wait_until("the payload is gone", lambda: consumer.look() is None and not payloads.listed())
    return ""


RACE = FmqRace(("payload-leaked",), shipped, ours, "the segment is there")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
