"""The constructors' arguments: names, order, defaults, and what each does."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from fdcomm import (
    AuthError,
    ConfigError,
    EngineCacheQueue,
    EngineWorkerQueue,
    HostNotFoundError,
    RankError,
    UnsafeConfigError,
)
from tests.faults.clean import nothing_is_left
from tests.parity.rows import members, rows

__all__ = ("nothing_is_left",)

QUEUES: dict[str, Any] = {"EngineWorkerQueue": EngineWorkerQueue, "EngineCacheQueue": EngineCacheQueue}
KEY = bytes(range(32))


def _address(queue: Any) -> None:
    with queue(("127.0.0.1", 0), is_server=True) as server:
        port = server.get_server_port()
        for host in ("0.0.0.0", "127.0.0.1", "localhost"):
            with queue((host, port), client_id=0) as client:
                assert client.address == (host, port)
        for wrong in ("/dev/shm/a_socket_path.sock", ("0.0.0.0",), None):
            with pytest.raises(ConfigError, match="pair"):
                queue(wrong, client_id=0)
    with pytest.raises(UnsafeConfigError):
        queue(("192.0.2.1", 0), is_server=True)


def _authkey(queue: Any) -> None:
    with queue(("0.0.0.0", 0), KEY, True) as server:
        assert server.authkey == KEY
        with queue(server.address, KEY, client_id=0) as client:
            client.statistics()
        with pytest.raises(AuthError):
            queue(server.address, client_id=0)
    with queue(("0.0.0.0", 0), b"secret_key", True) as server:  # the one in public source code counts as none
        with queue(server.address, b"cache_queue_service", client_id=0) as client:
            client.statistics()


def _is_server(queue: Any) -> None:
    with pytest.raises(HostNotFoundError):
        queue(("0.0.0.0", 1), client_id=0)
    with queue(("0.0.0.0", 0), is_server=True) as server:
        assert server.is_server
        with queue(server.address, is_server=False, client_id=0) as client:
            assert not client.is_server


def _num_client(queue: Any) -> None:
    for count in (1, 3):
        with queue(("0.0.0.0", 0), is_server=True, num_client=count) as server:
            assert server.num_client == count
            with queue(server.address, num_client=count, client_id=count - 1) as client:
                client.statistics()
            with pytest.raises(ConfigError, match="num_client"):
                queue(server.address, num_client=count + 1, client_id=0)


def _client_id(queue: Any) -> None:
    with queue(("0.0.0.0", 0), is_server=True, num_client=2) as server:
        assert server.client_id == -1
        for rank in range(2):
            with queue(server.address, num_client=2, client_id=rank) as client:
                assert client.client_id == rank
        for wrong in (-1, 2):
            with pytest.raises(RankError):
                queue(server.address, num_client=2, client_id=wrong)


def _size(queue: Any) -> None:
    with queue(("0.0.0.0", 0), is_server=True, local_data_parallel_size=3) as server:
        assert server.local_data_parallel_size == 3
        for dp in range(3):
            with queue(server.address, client_id=0, local_data_parallel_size=3, local_data_parallel_id=dp) as client:
                client.statistics()
        with pytest.raises(ConfigError, match="local_data_parallel_size"):
            queue(server.address, client_id=0, local_data_parallel_id=3)
    with pytest.raises(ConfigError, match="local_data_parallel_size"):
        queue(("0.0.0.0", 0), is_server=True, local_data_parallel_size=0)


def _id(queue: Any) -> None:
    """The replicas share nothing."""
    with queue(("0.0.0.0", 0), is_server=True, local_data_parallel_size=2, local_data_parallel_id=1) as server:
        handles = [queue(server.address, client_id=0, local_data_parallel_id=dp) for dp in range(2)]
        name = "put_tasks" if queue is EngineWorkerQueue else "put_transfer_task"
        getattr(server, name)("for replica 1", timeout=0)
        assert [handle.statistics().num_tasks for handle in handles] == [0, 1]
        for handle in handles:
            handle.close()
        for wrong in (-1, 2):
            with pytest.raises(ConfigError, match="local_data_parallel_id"):
                queue(server.address, client_id=0, local_data_parallel_id=wrong)


CHECKS: dict[str, Callable[[Any], None]] = {
    "address": _address,
    "authkey": _authkey,
    "is_server": _is_server,
    "num_client": _num_client,
    "client_id": _client_id,
    "local_data_parallel_size": _size,
    "local_data_parallel_id": _id,
}


@pytest.mark.parametrize("name", [name for queue in QUEUES for name in members("argument", queue)])
def test_argument(name: str) -> None:
    queue, argument = name.split(".")
    CHECKS[argument](QUEUES[queue])


@pytest.mark.parametrize("queue", QUEUES)
def test_names_order_and_defaults(queue: str) -> None:
    wanted = {
        row.member: ast.literal_eval(row.cells["default"])
        for row in rows()
        if row.owner == queue and row.kind == "argument"
    }
    parameters = list(inspect.signature(QUEUES[queue]).parameters.values())
    ours = {p.name: p.default for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD}
    assert list(ours.items()) == list(wanted.items())
    # What is new can only be passed by name, so FastDeploy's calls mean what they mean there. All names can be seen.
    new = parameters[len(ours) :]
    assert {p.kind for p in new} == {inspect.Parameter.KEYWORD_ONLY}
    assert {"role", "depth", "allow_pickle", "connect_timeout"} < {p.name for p in new}
    assert set(get_type_hints(QUEUES[queue].__init__)) > {p.name for p in new}
    with pytest.raises(TypeError, match="dept"):
        QUEUES[queue](dept=1)
