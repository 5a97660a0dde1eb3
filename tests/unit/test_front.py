"""The book of connections in a host's server: which sessions count as connected, and what the end of one does."""

from __future__ import annotations

import errno
import inspect
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from fdcomm import DuplicateRankError, FencedError, HostLostError
from fdcomm.host.server import Front, HostServer
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.runtime import SYSTEM
from fdcomm.wire import Wire

LIMIT_S = 60.0
HELLO = Hello(version=PROTOCOL_VERSION, kind="worker", num_client=1, client_id=0, dp_rank=0, role="reader", pid=1)


@pytest.fixture
def front() -> Front:
    """A front with a service for one rank."""
    front = Front()
    words = memoryview(bytearray(8 * words_needed(HostConfig(1)))).cast("q")
    front.service = HostService(HostConfig(1), SYSTEM, words, is_connected=front.is_connected, refused=front.refused)
    return front


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connection: the host's end and the client's."""
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def _open(front: Front, end: Any) -> int:
    front.begin(end)
    return front.open_session(HELLO)["session"]


def test_a_session_is_connected_until_its_peer_has_closed(
    front: Front, pair: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = pair
    session = _open(front, ours)
    assert front.is_connected(session)
    theirs.send(b"a call")
    assert front.is_connected(session)
    ours.recv(6)
    theirs.close()
    assert not front.is_connected(session)
    front.end()


def test_a_session_that_is_being_opened_is_connected(front: Front) -> None:
    """Between the claim of the rank and the entry in the book, another claim must not take the rank away."""
    session = front.service.open_session(HELLO)["session"]
    with pytest.raises(DuplicateRankError):
        front.service.open_session(HELLO)
    assert front.service.act(session, "dispatch", "get_tasks", 0, 0.0) == (0, None, True)


def test_a_rank_whose_process_is_gone_is_free_at_once(front: Front, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    old = _open(front, ours)
    theirs.close()
    new = front.service.open_session(HELLO)["session"]  # the end of the old connection was not handled yet
    with pytest.raises(FencedError):
        front.service.act(old, "dispatch", "get_tasks", 0, 0.0)
    front.end()
    assert front.service.act(new, "dispatch", "get_tasks", 0, 0.0) == (0, None, True)


def test_the_end_of_a_connection_fences(front: Front, pair: tuple[socket.socket, socket.socket]) -> None:
    session = _open(front, pair[0])
    front.end()
    with pytest.raises(FencedError):
        front.service.act(session, "dispatch", "put_tasks", b"", 0.0)


@pytest.fixture
def server(front: Front) -> Iterator[tuple[Front, str]]:
    """A server that accepts, and its address."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-front-") as folder:
        path = os.path.join(folder, "host.sock")
        server = HostServer(path, b"key", front)
        server.start()
        yield front, path
        listener: Any = server.listener  # type: ignore[attr-defined]
        listener._listener._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts, and ends it
        listener.close()


def _counts(path: str) -> int:
    """Open a session over a connection of its own; return how many connections the host has refused."""
    wire = Wire(path, b"key", SYSTEM)
    try:
        session = wire.call("open_session", HELLO, wait_s=LIMIT_S)["session"]
        view = wire.call("act", session, "dispatch", "view", wait_s=LIMIT_S)
        wire.call("close_session", session, wait_s=LIMIT_S)
    finally:
        wire.close()
    refused: int = view["refused_connections"]
    return refused


def test_a_connection_without_a_thread_is_refused_and_the_next_is_served(
    server: tuple[Front, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = server
    assert _counts(path) == 0
    start, left = threading.Thread.start, [2]

    def fails_twice(thread: threading.Thread) -> None:
        if thread.name == "fdcomm-serve" and left[0]:
            left[0] -= 1
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", fails_twice)
    for _ in range(2):
        with pytest.raises(HostLostError):
            Wire(path, b"key", SYSTEM)
    assert _counts(path) == 2


def test_a_session_without_a_file_descriptor_is_refused_and_leaves_nothing(
    server: tuple[Front, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    front, path = server
    duplicate, left = os.dup, [True]

    def fails_once(fd: int) -> int:
        if left and _in(front.open_session):
            left.clear()
            raise OSError(errno.EMFILE, "Too many open files")
        return duplicate(fd)

    monkeypatch.setattr(os, "dup", fails_once)
    wire = Wire(path, b"key", SYSTEM)
    with pytest.raises(HostLostError, match="limits"):
        wire.call("open_session", HELLO, wait_s=LIMIT_S)
    wire.close()
    assert _counts(path) == 0


def _in(method: Any) -> bool:
    """Return True when the calling thread is inside a method."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not method.__code__:
        frame = frame.f_back
    return frame is not None
