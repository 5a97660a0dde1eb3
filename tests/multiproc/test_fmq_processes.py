"""Ends of queues in processes: forks, exits with data that nobody takes, and producers that are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from fdcomm import ForkedHandleError
from fdcomm.mq import FMQ, Config, SocketOptions
from fdcomm.mq.payloads import Payloads
from fdcomm.zsocket.context import context

pytestmark = pytest.mark.multiproc

ROOT = Path(__file__).resolve().parents[2]
_WATCHDOG_S = 60.0
_LEAVES = """
import sys
from fdcomm.mq import FMQ, Config, SocketOptions
fmq = FMQ(Config(ipc_root=sys.argv[1], socket_config=SocketOptions(linger=300)))
fmq.queue("q").put(b"x" * (2 << 20))
topic = fmq.topic("t")
topic.pub("to nobody")
"""


@pytest.fixture(scope="module", autouse=True)
def _one_context() -> None:
    """The process' ZeroMQ context stays, with its descriptors: it is made before they are counted."""
    context().socket(zmq.PAIR).close()  # the first socket starts its threads


@pytest.fixture
def root() -> Iterator[str]:
    # Not pytest's folder: its path may be so long that no name of a socket fits behind it.
    with tempfile.TemporaryDirectory(prefix="mq-") as made:
        yield made


def test_a_process_with_unsent_data_ends_within_its_linger(root: str) -> None:
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", _LEAVES, root], cwd=ROOT, timeout=_WATCHDOG_S, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - begun < 30.0
    config = Config(ipc_root=root)
    payloads = Payloads(config.endpoint("q").address)
    assert sum(map(len, payloads.listed().values())) == 1
    with FMQ(config) as fmq:  # the next start finds what is left
        fmq.queue("q", "consumer")
        assert payloads.listed() == {}


def test_a_forked_child_has_no_handle(root: str) -> None:
    with FMQ(Config(ipc_root=root, socket_config=SocketOptions(linger=0))) as fmq:
        consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
        producer.put(1)
        assert consumer.get(_WATCHDOG_S).payload == 1
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for call in (lambda: producer.put(2), lambda: consumer.get(0.0)):
                    try:
                        call()
                    except ForkedHandleError:
                        code = 0
                    else:
                        code = 2
                        break
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        producer.put(3)
        assert consumer.get(_WATCHDOG_S).payload == 3


def test_a_child_of_multiprocessing_sends_what_it_has_put(root: str) -> None:
    program = """
import multiprocessing, sys
from fdcomm.mq import FMQ, Config
def puts(root):
    FMQ(Config(ipc_root=root)).queue("q").put("from the child")
if __name__ == "__main__":
    with FMQ(Config(ipc_root=sys.argv[1])) as fmq:
        consumer = fmq.queue("q", "consumer")
        child = multiprocessing.get_context("fork").Process(target=puts, args=(sys.argv[1],))
        child.start()
        print(consumer.get(30).payload)
        consumer.done()
        child.join(30)
        sys.exit(child.exitcode)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, root], cwd=ROOT, timeout=_WATCHDOG_S, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "from the child\n"), done.stderr
