"""A process that has sent to a peer that is dead, was never there, or takes nothing, ends within its linger.

One process has all kinds of handles, all with something unsent. Without an end of a linger it would not end at all, and
with one linger after the other it would take many times as long.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fdcomm.mq import FMQ, Config
from fdcomm.mq.payloads import Payloads
from tests.faults.zsockets import sockets_end, zeromq_runs

__all__ = ("sockets_end", "zeromq_runs")

pytestmark = pytest.mark.multiproc

ROOT = Path(__file__).resolve().parents[2]
LINGER_S = 2.0
PRODUCERS = 8
LATE_S = PRODUCERS * LINGER_S
WATCHDOG_S = 60.0

# Tells that it is there; then reads one message of each, and no other.
_PEER = """
import sys, zmq
from fdcomm import ZmqIpcClient, ZmqIpcServer
from fdcomm.mq import FMQ
count = int(sys.argv[1])
fmq = FMQ()
consumers = [fmq.queue(f"q{number}", "consumer") for number in range(count)]
requests = ZmqIpcServer("requests", zmq.PULL)
print("there", flush=True)
for consumer in consumers:
    consumer.get(60)
requests.receive_json_once(True)
asker = ZmqIpcClient("results", zmq.DEALER)
asker.connect()
asker.send_handle("a")
asker.recv_results(timeout=60)
topic = fmq.topic("t")
topic.sub(timeout=60)
print("has taken", flush=True)
sys.stdin.readline()
"""

_SENDER = """
import sys, zmq
from fdcomm import UndeliverableError, ZmqIpcClient, ZmqIpcServer
from fdcomm.mq import FMQ, Config, SocketOptions
count, linger, peer = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
fmq = FMQ(Config(socket_config=SocketOptions(linger=round(1000 * linger))))
producers = [fmq.queue(f"q{number}") for number in range(count)]
client = ZmqIpcClient("requests", zmq.PUSH, linger_s=linger)
client.connect()
results = ZmqIpcServer("results", zmq.ROUTER, linger_s=linger, send_timeout=1.0)
topic = fmq.topic("t")
topic.bind()
for producer in producers:
    producer.put("the first")
client.send_json("the first")
if peer != "never there":
    results.send_response("a", [{"n": 0}])
    results.receive_handle_once(timeout=60)
    topic.wait_subscribers(1, 60)
print("connected", flush=True)
sys.stdin.readline()
for producer in producers:
    producer.put(b"x" * 4_000_000)
    producer.put(b"y" * 500_000)
for number in range(20):
    client.send_pyobj(b"z" * 500_000)
    topic.pub(b"t" * 500_000)
    try:
        results.send_response("a", [{"n": b"r" * 500_000}])
    except UndeliverableError:
        pass  # it was noticed that the client is gone
print("sent", flush=True)
"""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The runtime directory. What was left for the next consumers they remove."""
    with tempfile.TemporaryDirectory(prefix="pg-") as made:
        monkeypatch.setenv("FDCOMM_RUNTIME_DIR", made)
        yield made
        with FMQ() as fmq:
            for number in range(PRODUCERS):
                fmq.queue(f"q{number}", "consumer")
        keys = [Payloads(Config().endpoint(f"q{number}").address).key for number in range(PRODUCERS)]
        assert [name for name in os.listdir("/dev/shm") if any(key in name for key in keys)] == []


@contextmanager
def _running(program: str, folder: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FDCOMM_RUNTIME_DIR": folder}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, *map(str, arguments)],
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _says(process: subprocess.Popen[str], what: str) -> None:
    if process.stdout is None or process.stdout.readline() != what + "\n":
        raise AssertionError(f"{what!r} was not said: {process.communicate()[1]}")


def _go(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None:
        process.stdin.write("go on\n")
        process.stdin.flush()


def _ends(sender: subprocess.Popen[str]) -> float:
    """Return how many seconds it takes from what was sent last to the end."""
    _go(sender)
    _says(sender, "sent")
    began = time.monotonic()
    sender.wait(WATCHDOG_S)
    took = time.monotonic() - began
    errors = sender.stderr.read() if sender.stderr is not None else ""
    assert sender.returncode == 0, errors
    assert all("not acknowledged" in line for line in errors.splitlines()), errors
    return took


@pytest.mark.parametrize("peer", ["never there", "dead", "takes nothing"])
def test_a_process_ends_within_its_linger(folder: str, peer: str) -> None:
    with _running(_SENDER, folder, PRODUCERS, LINGER_S, peer) as sender:
        if peer == "never there":
            _says(sender, "connected")
            took = _ends(sender)
        else:
            with _running(_PEER, folder, PRODUCERS) as other:
                _says(other, "there")
                _says(sender, "connected")
                _says(other, "has taken")
                if peer == "dead":
                    other.kill()
                    other.wait(WATCHDOG_S)
                else:
                    other.send_signal(signal.SIGSTOP)
                took = _ends(sender)
    assert took < LATE_S, f"{took:.1f} s: the lingers of {PRODUCERS} producers ran one after the other"


def test_a_coroutine_that_waits_keeps_no_process(folder: str) -> None:
    """A call that waits without a limit, in a loop that was given up."""
    program = """
import asyncio, json, sys
from fdcomm.aio import AsyncFMQ
fmq = AsyncFMQ()
consumer = fmq.queue("q", "consumer")
async def briefly():
    try:
        await asyncio.wait_for(consumer.get(None), 0.1)
    except (asyncio.TimeoutError, TimeoutError):
        print(json.dumps("given up"), flush=True)
asyncio.run(briefly())
"""
    with _running(program, folder) as process:
        _says(process, json.dumps("given up"))
        process.wait(WATCHDOG_S)
        assert process.returncode == 0
