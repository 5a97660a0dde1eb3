"""Who may talk to a host from another machine, and what a stranger's message does: nothing."""

from __future__ import annotations

import importlib.util
import pickle
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import zmq

from fdcomm import (
    AuthError,
    ConfigError,
    CurveKeys,
    EngineWorkerQueue,
    FencedError,
    HostNotFoundError,
    UnsafeConfigError,
    ZmqLink,
)
from fdcomm.host.service import PROTOCOL_VERSION
from fdcomm.link import frames
from fdcomm.runtime import SYSTEM
from fdcomm.transports.link import LinkTransport
from fdcomm.zsocket.context import context
from fdcomm.zsocket.curve import client_options
from tests.faults.zsockets import sockets_end, zeromq_runs

__all__ = ("sockets_end", "zeromq_runs")

pytestmark = pytest.mark.multiproc
LIMIT_MS = 60_000


@pytest.fixture(scope="module")
def keys() -> CurveKeys:
    return CurveKeys.generate()


@pytest.fixture(scope="module")
def engine(keys: CurveKeys) -> Iterator[EngineWorkerQueue]:
    """One host for all tests of the module: a stranger must not disturb it."""
    options: dict[str, Any] = {"num_client": 1, "data_path": "host", "depth": 1000}
    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True, transport=ZmqLink(keys), **options) as server:
        server.num_tasks()  # now this thread's own connection is there, before descriptors are counted
        yield server


def _connect(engine: EngineWorkerQueue, link: ZmqLink, **options: Any) -> EngineWorkerQueue:
    where = ("127.0.0.1", engine.get_server_port())
    return EngineWorkerQueue(where, num_client=1, client_id=0, transport=link, data_path="host", **options)


@contextmanager
def _raw(engine: EngineWorkerQueue, keys: CurveKeys) -> Iterator[Any]:
    """A socket of somebody who has the keys, and may send what he likes."""
    socket = context().socket(zmq.DEALER)
    try:
        socket.linger = 0
        for name, value in client_options(keys).items():
            setattr(socket, name, value)
        socket.connect(f"tcp://127.0.0.1:{engine.get_server_port()}")
        yield socket
    finally:
        socket.close()


def _hello(name: bytes, **changes: Any) -> list[bytes]:
    hello = {
        "version": PROTOCOL_VERSION,
        "kind": "worker",
        "num_client": 1,
        "client_id": 0,
        "dp_rank": 0,
        "role": None,
        "pid": 1,
    }
    body = frames.pack(("open_session", (hello | changes,)))
    return [frames.CALL, name, frames.header(1, [1], 1), *map(bytes, body)]


def _call(name: bytes, number: int, *args: Any) -> list[bytes]:
    body = frames.pack(("act", args))
    return [frames.CALL, name, frames.header(number, [number], number), *map(bytes, body)]


def _answer(socket: Any) -> list[bytes]:
    assert socket.poll(LIMIT_MS), "no answer"
    found: list[bytes] = socket.recv_multipart()
    return found


# -- what is refused at the start ----------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [ZmqLink(), ZmqLink(CurveKeys.generate())])
def test_a_server_that_others_reach_needs_keys_and_pickle(link: ZmqLink) -> None:
    with pytest.raises(UnsafeConfigError):
        EngineWorkerQueue(("192.0.2.1", 0), is_server=True, transport=link, allow_pickle=link.keys is None)


@pytest.mark.parametrize("link", [ZmqLink(), ZmqLink(CurveKeys.generate().for_clients())])
def test_so_does_a_client(link: ZmqLink) -> None:
    with pytest.raises(UnsafeConfigError):
        EngineWorkerQueue(("192.0.2.1", 1), client_id=0, transport=link, allow_pickle=link.keys is None)


def test_a_server_needs_its_secret(keys: CurveKeys) -> None:
    with pytest.raises(ConfigError, match="secret"):
        EngineWorkerQueue(("127.0.0.1", 0), is_server=True, transport=ZmqLink(keys.for_clients()))


@pytest.mark.parametrize("missing", ["zmq", "msgspec"])
def test_without_the_extra_it_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else found(name))
    with pytest.raises(ConfigError, match=r"fdcomm\[zmq\]"):
        EngineWorkerQueue(("127.0.0.1", 1), client_id=0, transport="zmq")


@pytest.mark.parametrize(
    "limits",
    [{"grace_s": 0.01}, {"grace_s": -1.0}, {"grace_s": "1"}, {"grace_s": 1.0, "heartbeat_s": 0.9}, {"grace_s": True}],
)
def test_limits_that_cannot_work_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        EngineWorkerQueue(("127.0.0.1", 1), client_id=0, transport=ZmqLink(**limits))


def test_another_transport_is_refused() -> None:
    with pytest.raises(ConfigError, match="zmq"):
        EngineWorkerQueue(("127.0.0.1", 1), client_id=0, transport="carrier pigeon")  # type: ignore[arg-type]


def test_a_host_without_a_door_says_so() -> None:
    with (
        EngineWorkerQueue(("127.0.0.1", 0), is_server=True) as server,
        pytest.raises(ConfigError, match="transport='zmq'"),
    ):
        EngineWorkerQueue(("127.0.0.1", server.get_server_port()), client_id=0, transport="zmq")


# -- keys ------------------------------------------------------------------------------------------------------------


def test_keys_are_needed_and_must_be_the_hosts(engine: EngineWorkerQueue, keys: CurveKeys) -> None:
    others = CurveKeys.generate()
    with pytest.raises(AuthError):
        _connect(engine, ZmqLink())
    for wrong in (replace(others, server_public=keys.server_public), replace(keys, server_public=others.server_public)):
        with pytest.raises(AuthError):
            _connect(engine, ZmqLink(wrong.for_clients()))
    with _connect(engine, ZmqLink(keys.for_clients())) as client:
        assert client.num_tasks() == 0


def test_an_address_that_nobody_serves_is_told_at_once(keys: CurveKeys) -> None:
    with pytest.raises(HostNotFoundError):
        LinkTransport("tcp://127.0.0.1:9", ZmqLink(keys), SYSTEM, connect_s=0.0)


def test_the_keys_that_a_host_makes_are_in_its_record() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, transport="zmq") as server:
        where = ("127.0.0.1", server.get_server_port())
        with EngineWorkerQueue(where, client_id=0, transport="zmq") as client:
            client.put_tasks("x")
            assert client.get_tasks() == (["x"], True)


# -- messages ----------------------------------------------------------------------------------------------------------


def test_garbage_costs_nothing_but_itself(engine: EngineWorkerQueue, keys: CurveKeys) -> None:
    """Every message is broken in another way; the host goes on, and the sender's good call is served."""
    name = secrets.token_bytes(16)
    with _raw(engine, keys) as socket:
        for message in (
            [b""],
            [b"", b"", b""],
            [frames.CALL],
            [frames.CALL, b"short", frames.header(1, [1], 1)],
            [b"9X", name, b""],
            [frames.CALL, name, b"\xff\xff"],
            [frames.CALL, name, frames.header(1, [1], 1, 7)],
            [frames.CALL, name, frames.header(1, [2], 3), b""],
            [frames.CALL, name, frames.header(1, [1, 10**9], 1), b""],
            [frames.CALL, name, frames.header(1, list(range(1, 5000)), 5000), b""],
            [frames.PING, name, frames.header("1")],
            [pickle.dumps(("act", ()))],
        ):
            socket.send_multipart(message)
        socket.send_multipart(_hello(name))
        assert _answer(socket)[0] == frames.ANSWER
        for number, body in enumerate((b"", b"\xc1", pickle.dumps(print), bytes(frames.pack(("shut_down", ()))[0])), 2):
            socket.send_multipart([frames.CALL, name, frames.header(number, [number], number), body])
            answer = _answer(socket)
            assert answer[2] == frames.header(number)
            _, error = frames.outcome(answer[3:])
            assert error is not None
        socket.send_multipart(_call(name, 6, "dispatch", "view"))
        view, error = frames.outcome(_answer(socket)[3:])
        assert (error, view["num_tasks"]) == (None, 0)
        socket.send_multipart([frames.QUIT, name])
    assert engine.num_tasks() == 0


def test_a_call_that_is_replayed_is_not_done_again(engine: EngineWorkerQueue, keys: CurveKeys) -> None:
    name = secrets.token_bytes(16)
    payload = pickle.dumps("item")
    with _raw(engine, keys) as socket:
        socket.send_multipart(_hello(name))
        _answer(socket)
        puts = engine.statistics().puts
        put = _call(name, 2, "dispatch", "put_tasks", payload, 0.0, "put_tasks", 1)
        answers = set()
        for _ in range(3):
            socket.send_multipart(put)
            answers.add(tuple(_answer(socket)))
        assert len(answers) == 1
        socket.send_multipart(_call(name, 3, "dispatch", "view"))
        assert _answer(socket)[2] == frames.header(3)
        socket.send_multipart(put)  # the handle has the answer: a late copy
        socket.send_multipart(_call(name, 4, "dispatch", "view"))
        answer = _answer(socket)
        assert answer[2] == frames.header(4), "a late copy was answered"
        assert engine.statistics().puts == puts + 1
        socket.send_multipart([frames.BYE, name])
        assert _answer(socket)[0] == frames.ENDED
        for late in (_hello(name), put):  # nothing opens the session again
            socket.send_multipart(late)
            assert _answer(socket)[0] == frames.ENDED
        assert engine.statistics().puts == puts + 1
    engine.clear_data()


def test_a_link_that_the_host_does_not_know_is_told(engine: EngineWorkerQueue, keys: CurveKeys) -> None:
    with _raw(engine, keys) as socket:
        socket.send_multipart(_call(secrets.token_bytes(16), 2, "dispatch", "view"))
        assert _answer(socket)[0] == frames.ENDED


def test_a_handle_whose_session_was_ended_by_the_host_stays_fenced(engine: EngineWorkerQueue, keys: CurveKeys) -> None:
    client = _connect(engine, ZmqLink(keys.for_clients()))
    transport: Any = client._transport
    with _raw(engine, keys) as socket:  # as a host that has fenced it: only who knows its name can do that
        socket.send_multipart([frames.QUIT, transport._name])
        assert _answer(socket)[0] == frames.ENDED
    for _ in range(2):
        with pytest.raises(FencedError):
            client.statistics()
    assert not transport.is_alive()
    client.close()
