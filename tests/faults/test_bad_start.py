"""Servers that cannot start and hosts that are not there: a typed error that says what to do, at once."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

import pytest

from fdcomm import (
    AddressInUseError,
    ConfigError,
    EngineWorkerQueue,
    FdcommError,
    HostNotFoundError,
    RankError,
    UnsafeConfigError,
)
from tests.faults.remote import LIMIT_S

KEY = bytes(range(32))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"num_client": 0}, ConfigError, "num_client=0"),
        ({"depth": 0}, ConfigError, "depth=0"),
        ({"max_batch_bytes": -1}, ConfigError, "max_batch_bytes=-1"),
        ({"local_data_parallel_size": 0}, ConfigError, "local_data_parallel_size=0"),
        ({"local_data_parallel_id": 1}, ConfigError, "local_data_parallel_id=1"),
        ({"local_data_parallel_id": "0"}, ConfigError, "local_data_parallel_id='0'"),
        ({"role": "writer"}, ConfigError, "role='writer'"),
        ({"role": "reader"}, RankError, "client_id"),
        ({"transport": "carrier pigeon"}, ConfigError, "transport="),
        ({"authkey": "text"}, ConfigError, "authkey must be bytes"),
        ({"address": "0.0.0.0:5000"}, ConfigError, "pair"),
        ({"address": ("0.0.0.0",)}, ConfigError, "pair"),
        ({"address": ("0.0.0.0", "80")}, ConfigError, "pair"),
        ({"address": ("0.0.0.0", 65536)}, ConfigError, "65535"),
        ({"address": ("0.0.0.0", -1)}, ConfigError, "65535"),
        ({"address": ("192.0.2.1", 0)}, UnsafeConfigError, "authkey"),
        ({"address": ("192.0.2.1", 0), "authkey": KEY}, UnsafeConfigError, "allow_pickle"),
        ({"address": ("192.0.2.1", 0), "authkey": KEY, "allow_pickle": True}, ConfigError, "cannot take port"),
        ({"address": ("no.such.host.invalid", 0), "authkey": KEY, "allow_pickle": True}, ConfigError, "no.such.host"),
        ({"trace": "/dev/null/trace"}, ConfigError, "trace="),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_server_arguments(arguments: dict[str, Any], error: type[FdcommError], says: str) -> None:
    with pytest.raises(error, match=says):
        EngineWorkerQueue(**{"address": ("0.0.0.0", 0), "is_server": True, **arguments})


@pytest.mark.parametrize("listening", [True, False])
def test_port_of_another_program(listening: bool) -> None:
    with socket.socket() as theirs:
        theirs.bind(("127.0.0.1", 0))
        if listening:
            theirs.listen()
        port = theirs.getsockname()[1]
        with pytest.raises(AddressInUseError, match=f"port {port}.*choose another"):
            EngineWorkerQueue(("0.0.0.0", port), is_server=True)
        assert os.listdir(os.environ["FDCOMM_RUNTIME_DIR"]) == []


def test_port_of_another_host() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine:
        with pytest.raises(AddressInUseError, match=f"started by pid {os.getpid()}") as caught:
            EngineWorkerQueue(engine.address, is_server=True)
        assert isinstance(caught.value, OSError)
        with EngineWorkerQueue(engine.address, client_id=0) as reader:
            engine.put_tasks("undisturbed", timeout=LIMIT_S)
            assert reader.get_tasks(timeout=LIMIT_S)[0] == ["undisturbed"]


def test_no_host_is_said_at_once() -> None:
    start = time.monotonic()
    with pytest.raises(HostNotFoundError, match="start the server first"):
        EngineWorkerQueue(("0.0.0.0", 1), client_id=0)
    with pytest.raises(HostNotFoundError):
        EngineWorkerQueue(("127.0.0.1", 1), client_id=0, connect_timeout=0.05)
    with pytest.raises(ConfigError, match="connect_timeout=None"):
        EngineWorkerQueue(("127.0.0.1", 1), client_id=0, connect_timeout=None)  # type: ignore[arg-type]
    assert time.monotonic() - start < 10  # the published queue tries for 15 s
