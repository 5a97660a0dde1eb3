"""One connection to a host, against peers that are silent, talk garbage, or stop in the middle."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

import pytest

from fdcomm import AuthError, FdcommError, HostLostError, HostNotFoundError, ProtocolViolationError, wire
from fdcomm.runtime import SYSTEM
from fdcomm.wire import Wire

KEY = b"k" * 32
LIMIT_S = 60.0
Serve = Callable[[Callable[[socket.socket], None]], str]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve one connection by a function; returns the address."""
    threads: list[threading.Thread] = []
    listeners: list[socket.socket] = []

    def start(handle: Callable[[socket.socket], None]) -> str:
        listener = socket.socket(socket.AF_UNIX)
        address = str(tmp_path / f"s{len(listeners)}")
        listener.bind(address)
        listener.listen()
        listeners.append(listener)

        def run() -> None:
            sock, _ = listener.accept()
            with sock, contextlib.suppress(OSError, EOFError):
                handle(sock)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return address

    yield start
    for thread in threads:
        thread.join(LIMIT_S)
        assert not thread.is_alive()
    for listener in listeners:
        listener.close()


@pytest.fixture(autouse=True)
def _short_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "STALL_S", 0.2)


def _until_closed(sock: socket.socket) -> None:
    while sock.recv(65536):
        continue


def _authenticated(sock: socket.socket, key: bytes = KEY) -> Connection[Any, Any]:
    connection: Connection[Any, Any] = Connection(os.dup(sock.fileno()))
    deliver_challenge(connection, key)
    answer_challenge(connection, key)
    return connection


def _ready(sock: socket.socket, key: bytes = KEY) -> Connection[Any, Any]:
    connection = _authenticated(sock, key)
    connection.recv()
    connection.send(("#RETURN", None))
    return connection


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(HostNotFoundError, match="nobody serves"):
        Wire(str(tmp_path / "nothing"), KEY, SYSTEM)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(HostNotFoundError, match=f"127.0.0.1:{bound.getsockname()[1]}"):
            Wire(bound.getsockname(), KEY, SYSTEM)


def test_silent_peer(serve: Serve) -> None:
    with pytest.raises(HostLostError, match="broke off the handshake"):
        Wire(serve(_until_closed), KEY, SYSTEM)


def test_peer_that_hangs_up(serve: Serve) -> None:
    with pytest.raises(HostLostError, match="broke off the handshake"):
        Wire(serve(lambda sock: None), KEY, SYSTEM)


def _frame(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\xff" * 300,
        b"\0" * 300,
        _frame(b"hello"),
        _frame(b"#CHALLENGE#"),
        _frame(b"#CHALLENGE#{none}" + b"x" * 20),
        _frame(b"#WELCOME#"),
        b"\0\0",
    ],
    ids=repr,
)
def test_peer_that_talks_garbage(serve: Serve, data: bytes) -> None:
    def talk(sock: socket.socket) -> None:
        sock.sendall(data)
        _until_closed(sock)

    with pytest.raises(FdcommError) as caught:
        Wire(serve(talk), KEY, SYSTEM)
    assert isinstance(caught.value, (AuthError, HostLostError))


def test_wrong_key(serve: Serve) -> None:
    with pytest.raises(AuthError, match="does not accept the key"):
        Wire(serve(lambda sock: _quiet(_authenticated, sock, b"other")), KEY, SYSTEM)


def _quiet(function: Callable[..., Any], sock: socket.socket, key: bytes) -> None:
    connection: Connection[Any, Any] = Connection(os.dup(sock.fileno()))
    with connection, contextlib.suppress(Exception):
        deliver_challenge(connection, key)


def test_peer_without_the_key_cannot_pretend(serve: Serve) -> None:
    """The challenge is mutual: who accepts any key, but has not ours, is no host of ours."""

    def pretend(sock: socket.socket) -> None:
        sock.sendall(_frame(b"#CHALLENGE#" + b"x" * 20))
        connection: Connection[Any, Any] = Connection(os.dup(sock.fileno()))
        with connection:
            connection.recv_bytes(256)
            connection.send_bytes(b"#WELCOME#")
            connection.recv_bytes(256)
            connection.send_bytes(b"not the digest..")
            _until_closed(sock)

    with pytest.raises(AuthError):
        Wire(serve(pretend), KEY, SYSTEM)


def _call(serve: Serve, answer: Callable[[Connection[Any, Any], socket.socket], None], wait_s: float = LIMIT_S) -> Any:
    def talk(sock: socket.socket) -> None:
        with _ready(sock) as connection:
            connection.recv()
            answer(connection, sock)

    client = Wire(serve(talk), KEY, SYSTEM)
    try:
        return client.call("num_tasks", wait_s=wait_s)
    finally:
        client.close()
        client.close()


def test_answer(serve: Serve) -> None:
    assert _call(serve, lambda connection, sock: connection.send(("#RETURN", 5))) == 5


def test_error_of_the_host(serve: Serve) -> None:
    error = FdcommError("said by the host", operation="num_tasks", missing=(3,))
    with pytest.raises(FdcommError, match="said by the host") as caught:
        _call(serve, lambda connection, sock: connection.send(("#ERROR", error)))
    assert caught.value.missing == (3,)


def test_traceback_of_the_host(serve: Serve) -> None:
    with pytest.raises(ProtocolViolationError, match="it broke"):
        _call(serve, lambda connection, sock: connection.send(("#TRACEBACK", "it broke")))


@pytest.mark.parametrize("data", [b"", b"no pickle", b"\x80\x05K\x05.", b"cno_such_module\nThing\n."], ids=repr)
def test_answer_that_is_none(serve: Serve, data: bytes) -> None:
    with pytest.raises(FdcommError) as caught:
        _call(serve, lambda connection, sock: connection.send_bytes(data))
    assert isinstance(caught.value, (ProtocolViolationError, HostLostError))
    assert caught.value.operation == "num_tasks"


def test_end_in_the_middle_of_a_message(serve: Serve) -> None:
    with pytest.raises(HostLostError, match="the host is gone") as caught:
        _call(serve, lambda connection, sock: sock.sendall((100).to_bytes(4, "big") + b"half"))
    assert caught.value.operation == "num_tasks"


def test_silence_in_the_middle_of_a_message(serve: Serve) -> None:
    def half(connection: Connection[Any, Any], sock: socket.socket) -> None:
        sock.sendall((100).to_bytes(4, "big") + b"half")
        _until_closed(sock)

    with pytest.raises(HostLostError, match="silent in the middle"):
        _call(serve, half)


def test_no_answer(serve: Serve) -> None:
    with pytest.raises(HostLostError, match=r"has not answered for 0\.1 s") as caught:
        _call(serve, lambda connection, sock: _until_closed(sock), wait_s=0.1)
    assert caught.value.waited_s == 0.1


def test_shut_down_ends_a_call_of_another_thread(serve: Serve) -> None:
    client_here = threading.Event()

    def talk(sock: socket.socket) -> None:
        with _ready(sock) as connection:
            connection.recv()
            client_here.set()
            _until_closed(sock)

    client = Wire(serve(talk), KEY, SYSTEM)

    def stop() -> None:
        client_here.wait(LIMIT_S)
        client.shut_down()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(HostLostError):
        client.call("get_tasks", wait_s=None)
    stopper.join()
    assert not client.is_open()


def test_any_number_of_threads_may_ask_whether_it_is_open(serve: Serve) -> None:
    done = threading.Event()

    def talk(sock: socket.socket) -> None:
        with _ready(sock):
            done.wait(LIMIT_S)

    client = Wire(serve(talk), KEY, SYSTEM)
    seen: list[bool] = []

    def ask() -> None:
        seen.extend(client.is_open() for _ in range(3000))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 12_000
    done.set()
    client.close()
    assert not client.is_open()


def test_threads_that_close_at_the_same_time_close_the_file_once(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second comes in the middle of the first: by the end of that, the number may be another file's."""
    closed: list[int] = []
    original = Connection._close  # type: ignore[attr-defined]

    def close(connection: Connection[Any, Any]) -> None:
        if connection is opened._connection:  # the host's end is closed by a thread of its own
            closed.append(connection.fileno())
            if len(closed) == 1:
                opened.close()
        original(connection)

    opened = Wire(serve(lambda sock: _ready(sock).close()), KEY, SYSTEM)
    with monkeypatch.context() as patch:
        patch.setattr(Connection, "_close", close)
        opened.close()
        opened.close()
    assert len(closed) == 1
    assert not opened.is_open()
