"""What a host offers to the network: nothing, unless the user has written an address, a key and a permission."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fdcomm import EngineWorkerQueue, UnsafeConfigError
from tests.faults.remote import LIMIT_S, host_pid

LOOPBACK = re.compile(r"^(0100007F|00000000000000000000000001000000)$")


def _listeners(pid: int) -> list[str]:
    """Return the local addresses of a process's listening or bound internet sockets, as the kernel writes them."""
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(fd)
        if target.startswith("socket:"):
            inodes.add(target[8:-1])
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes:
                found.append(fields[1])
    return found


@pytest.mark.parametrize("name", ["0.0.0.0", "", "localhost", "127.0.0.1", "127.0.0.2", "::", "::1"])
def test_default_listens_on_no_network(name: str) -> None:
    with EngineWorkerQueue((name, 0), is_server=True) as engine:
        assert _listeners(host_pid(engine)) == []
        with EngineWorkerQueue((name, engine.get_server_port()), client_id=0) as reader:
            engine.put_tasks(1, timeout=LIMIT_S)
            assert reader.get_tasks(timeout=LIMIT_S) == ([1], True)


@pytest.mark.parametrize("name", ["0.0.0.0", "", "localhost", "::"])
def test_tcp_listens_on_loopback_only(name: str) -> None:
    with EngineWorkerQueue((name, 0), is_server=True, transport="tcp") as engine:
        (listener,) = set(_listeners(host_pid(engine)))  # its connections have the same address
        address, port = listener.split(":")
        assert LOOPBACK.match(address)
        assert int(port, 16) == engine.get_server_port()
        with EngineWorkerQueue(engine.address, client_id=0, transport="tcp") as reader:
            engine.put_tasks(1, timeout=LIMIT_S)
            assert reader.get_tasks(timeout=LIMIT_S) == ([1], True)


@pytest.mark.parametrize("key", [b"secret_key", b"cache_queue_service", b"", bytearray(b"secret_key")], ids=repr)
@pytest.mark.parametrize("is_server", [True, False])
@pytest.mark.parametrize("name", ["192.0.2.1", "2001:db8::1"])
def test_a_key_from_public_source_code_opens_nothing(key: bytes, is_server: bool, name: str) -> None:
    with pytest.raises(UnsafeConfigError, match="a key that nobody can look up: pass authkey="):
        EngineWorkerQueue((name, 5000), key, is_server=is_server, client_id=0, allow_pickle=True)


@pytest.mark.parametrize("is_server", [True, False])
def test_a_good_key_is_not_a_permission(is_server: bool) -> None:
    with pytest.raises(UnsafeConfigError, match="allow_pickle=True if you accept that"):
        EngineWorkerQueue(("192.0.2.1", 5000), os.urandom(32), is_server=is_server, client_id=0)


@pytest.mark.parametrize("name", ["127.example.invalid", "0.0.0.0.example.invalid", "localhost.example.invalid"])
def test_a_name_that_looks_local_is_not(name: str) -> None:
    with pytest.raises(UnsafeConfigError):
        EngineWorkerQueue((name, 0), is_server=True, transport="tcp")
