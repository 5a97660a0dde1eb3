"""For tests that count descriptors: ZeroMQ keeps some for the life of the process, and closes others a little late."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import zmq

from fdcomm import CurveKeys, ZmqTcpClient, ZmqTcpServer
from tests.faults.remote import LIMIT_S, fds_of, until

__all__ = ("sockets_end", "zeromq_runs")


@pytest.fixture(scope="session")
def zeromq_runs() -> None:
    """The context of this process, the thread that is asked for keys, and the one that large messages have, run."""
    ZmqTcpServer(0, zmq.PULL, keys=CurveKeys.generate(), host="127.0.0.1").close()
    with ZmqTcpServer(0, zmq.PULL) as server, ZmqTcpClient("127.0.0.1", server.port, zmq.PUSH) as client:
        client.send_json("x" * 100_000)
        server.receive_json_once(True, timeout=LIMIT_S)


@pytest.fixture(autouse=True)
def sockets_end(zeromq_runs: None, nothing_is_left: None) -> Iterator[None]:
    """A thread of ZeroMQ closes sockets some time after their close."""
    before = fds_of()
    yield
    gc.collect()
    until(lambda: fds_of() <= before, "the descriptors of sockets are closed")
