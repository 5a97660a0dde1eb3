"""The book of connections in a host's server: which sessions count as connected, and what the end of one does."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from fdcomm import DuplicateRankError, FencedError
from fdcomm.host.server import Front
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.runtime import SYSTEM

HELLO = Hello(version=PROTOCOL_VERSION, kind="worker", num_client=1, client_id=0, dp_rank=0, role="reader", pid=1)


@pytest.fixture
def front() -> Front:
    """A front with a service for one rank."""
    front = Front()
    words = memoryview(bytearray(8 * words_needed(HostConfig(1)))).cast("q")
    front.service = HostService(HostConfig(1), SYSTEM, words, is_connected=front.is_connected)
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
    assert front.service.act(session, "dispatch", "get_tasks", 0, 0.0) == (0, None, False)


def test_a_rank_whose_process_is_gone_is_free_at_once(front: Front, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    old = _open(front, ours)
    theirs.close()
    new = front.service.open_session(HELLO)["session"]  # the end of the old connection was not handled yet
    with pytest.raises(FencedError):
        front.service.act(old, "dispatch", "get_tasks", 0, 0.0)
    front.end()
    assert front.service.act(new, "dispatch", "get_tasks", 0, 0.0) == (0, None, False)


def test_the_end_of_a_connection_fences(front: Front, pair: tuple[socket.socket, socket.socket]) -> None:
    session = _open(front, pair[0])
    front.end()
    with pytest.raises(FencedError):
        front.service.act(session, "dispatch", "put_tasks", b"", 0.0)
