"""The table of safe defaults: address, key and ``allow_pickle`` against what a server then listens on."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm import AuthError, ConfigError, FdcommError, HostLostError, HostNotFoundError, UnsafeConfigError
from fdcomm import connect as rules
from fdcomm.host.service import HostConfig
from fdcomm.rendezvous import Record
from fdcomm.runtime import SYSTEM

GOOD = bytes(range(32))
WELL_KNOWN = (b"", b"secret_key", b"cache_queue_service", bytearray(b"secret_key"))
LOCAL = ("", "0.0.0.0", "::", "localhost", "127.0.0.1", "127.3.2.1", "::1")
NETWORK = ("192.0.2.1", "2001:db8::1", "some-host.invalid", "127.invalid", "0", "::ffff:192.0.2.1")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What hosts would be started with."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(rules, "HostProcess", lambda config, **orders: found.append(orders))
    return found


def _start(name: str, key: Any, allow_pickle: bool, transport: Any = "auto") -> None:
    rules.start_host(HostConfig(1), (name, 5000), key, allow_pickle=allow_pickle, transport=transport, trace="")


@pytest.mark.parametrize("allow_pickle", [False, True])
@pytest.mark.parametrize("key", [*WELL_KNOWN, GOOD], ids=repr)
@pytest.mark.parametrize("name", LOCAL)
def test_this_machine_listens_on_no_network(
    started: list[dict[str, Any]], name: str, key: bytes, allow_pickle: bool
) -> None:
    _start(name, key, allow_pickle)
    assert started == [{"port": 5000, "tcp_host": "", "key": GOOD if key == GOOD else b"", "trace": ""}]


@pytest.mark.parametrize("name", LOCAL)
def test_tcp_of_this_machine_is_loopback(started: list[dict[str, Any]], name: str) -> None:
    _start(name, b"secret_key", False, "tcp")
    assert started[0]["tcp_host"] == (name if name.startswith("127.") or name == "::1" else "127.0.0.1")


@pytest.mark.parametrize("transport", ["auto", "unix", "tcp"])
@pytest.mark.parametrize("name", NETWORK)
def test_the_network_needs_key_and_permission(started: list[dict[str, Any]], name: str, transport: str) -> None:
    for key in WELL_KNOWN:
        for allow_pickle in (False, True):
            with pytest.raises(UnsafeConfigError, match="authkey="):
                _start(name, key, allow_pickle, transport)
    with pytest.raises(UnsafeConfigError, match="allow_pickle=True"):
        _start(name, GOOD, False, transport)
    assert started == []
    _start(name, GOOD, True, transport)
    assert (started[0]["tcp_host"], started[0]["key"]) == (name, GOOD)


def _record(**changes: Any) -> Record:
    values = {
        "port": 5000, "instance": 1, "socket": "/s", "words": "/w", "tcp_host": "", "tcp_port": 0,
        "key": "aa" * 32, "pid": 1, "owner_pid": 1,
    }  # fmt: skip
    return Record(**{**values, **changes})


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The record that a client finds, and what it then connects to."""
    state: dict[str, Any] = {"record": _record(), "connected": [], "refuse": 0, "error": HostNotFoundError}

    def transport(where: Any, key: bytes, runtime: Any) -> str:
        state["connected"].append((where, key))
        if len(state["connected"]) <= state["refuse"]:
            raise state["error"]("gone")
        return "transport"

    monkeypatch.setattr(rules, "find", lambda port, wait_s, sleep: state["record"])
    monkeypatch.setattr(rules, "ManagerTransport", transport)
    return state


def _connect(name: str = "0.0.0.0", key: bytes = b"secret_key", transport: Any = "auto", wait_s: float = 0.0) -> Any:
    return rules.connect(
        (name, 5000), key, allow_pickle=False, transport=transport, connect_timeout=wait_s, runtime=SYSTEM
    )


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("key", [b"secret_key", GOOD])
def test_a_client_takes_the_records_socket_and_the_right_key(found: dict[str, Any], name: str, key: bytes) -> None:
    _connect(name, key)
    assert found["connected"] == [("/s", GOOD if key == GOOD else b"\xaa" * 32)]


def test_a_host_with_a_chosen_key_needs_it(found: dict[str, Any]) -> None:
    found["record"] = _record(key="")
    with pytest.raises(AuthError, match="explicit authkey"):
        _connect()
    assert found["connected"] == []
    _connect(key=GOOD)
    assert found["connected"] == [("/s", GOOD)]


def test_tcp_where_the_host_has_it(found: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="transport='tcp'"):
        _connect(transport="tcp")
    found["record"] = _record(tcp_host="127.0.0.1", tcp_port=5000)
    _connect(transport="tcp")
    assert found["connected"] == [(("127.0.0.1", 5000), b"\xaa" * 32)]


@pytest.mark.parametrize("error", [HostNotFoundError, HostLostError])
def test_a_host_that_ends_between_look_and_connect(found: dict[str, Any], error: type[FdcommError]) -> None:
    found.update(refuse=1, error=error)
    with pytest.raises(error):
        _connect()
    found["refuse"] = 3
    assert _connect(wait_s=60.0) == "transport"


@pytest.mark.parametrize("name", ["192.0.2.1", "2001:db8::1"])
def test_a_client_of_another_machine(found: dict[str, Any], name: str) -> None:
    for key in (*WELL_KNOWN, GOOD):
        with pytest.raises(UnsafeConfigError):
            _connect(name, bytes(key))
    assert found["connected"] == []


@pytest.mark.parametrize(
    "address", [None, "h:1", (), ("h",), ("h", 1, 2), (1, "h"), ("h", True), ("h", 1.0), ("h", -1)]
)
def test_addresses(address: Any) -> None:
    with pytest.raises(ConfigError, match=r"pair \(host, port\)"):
        rules.check_address(address)


@pytest.mark.parametrize("key", ["text", None, 1, [1]])
def test_keys_are_bytes(key: Any) -> None:
    with pytest.raises(ConfigError, match="authkey must be bytes"):
        rules.chosen_key(key)
