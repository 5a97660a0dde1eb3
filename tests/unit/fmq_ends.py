"""An FMQ for tests of one process, in a directory of its own, which is empty at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest

from fdcomm.mq import FMQ, Config, SocketOptions
from fdcomm.mq.payloads import Payloads

__all__ = ("LIMIT_S", "config", "fmq")

LIMIT_S = 30.0


@pytest.fixture
def config() -> Iterator[Config]:
    # Not pytest's folder: its path may be so long that no name of a socket fits behind it.
    with tempfile.TemporaryDirectory(prefix="mq-") as root:
        yield Config(ipc_root=root, socket_config=SocketOptions(linger=200))


@pytest.fixture
def fmq(config: Config) -> Iterator[FMQ]:
    with FMQ(config) as made:
        yield made
    payloads = Payloads(config.endpoint("q").address)
    assert payloads.listed() == {}
    assert os.listdir(str(config.ipc_root)) == []
