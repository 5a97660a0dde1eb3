"""Who answers for a rank of a gate, when processes die and come back in any order."""

from __future__ import annotations

import pytest

from fdcomm.errors import CommTimeoutError, PeerLostError, StaleAnswerError
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.runtime import SYSTEM


class Host:
    """A host of two ranks. ``closed``: sessions whose connection has closed, which the host may not have noticed."""

    def __init__(self) -> None:
        self.closed: set[int] = set()
        words = memoryview(bytearray(8 * words_needed(HostConfig(2)))).cast("q")
        self.service = HostService(
            HostConfig(2), SYSTEM, words, is_connected=lambda session: session not in self.closed
        )
        self.engine = self.open(0, "producer")

    def open(self, rank: int, role: str | None = None) -> int:
        """Open a handle."""
        hello = Hello(
            version=PROTOCOL_VERSION, kind="worker", num_client=2, client_id=rank, dp_rank=0, role=role, pid=1
        )
        return self.service.open_session(hello)["session"]

    def put(self, session: int, key: str) -> bool:
        """Answer a request."""
        all_put: bool = self.service.act(session, "send_cache", "put_answer", key, b"answer", 0.0, "put")
        return all_put

    def collect(self, round_limit: float | None = None) -> list[bytes] | None:
        """Poll."""
        answers: list[bytes] | None = self.service.act(self.engine, "send_cache", "collect", 0.0, round_limit, "get")
        return answers


@pytest.fixture
def host() -> Host:
    """A host with the engine's handle."""
    return Host()


@pytest.mark.parametrize("noticed", ["before", "after"])
def test_rounds_wait_for_a_rank_that_is_back(host: Host, noticed: str) -> None:
    """Also if its handle opens before the host has noticed the end of the process before it."""
    old, one = host.open(0), host.open(1)
    assert [host.put(old, "a"), host.put(one, "a")] == [False, True]
    assert host.collect() is not None
    host.closed.add(old)
    if noticed == "before":
        host.service.lose_session(old)
    new = host.open(0)
    if noticed == "after":
        host.service.lose_session(old)
    assert host.put(one, "b") is False
    assert host.collect() is None  # not PeerLostError: the rank is there
    assert host.put(new, "b") is True
    assert host.collect() is not None


def test_a_round_of_the_dead_process_ends_although_the_rank_is_back(host: Host) -> None:
    old, one = host.open(0), host.open(1)
    for session in (old, one):
        host.put(session, "a")
    assert host.collect() is not None
    host.put(one, "b")
    host.closed.add(old)
    host.open(0)
    with pytest.raises(PeerLostError) as caught:
        host.collect()
    assert caught.value.missing == (0,)


def test_a_second_handle_beside_a_live_one_changes_nothing(host: Host) -> None:
    first, one = host.open(0), host.open(1)
    host.put(first, "a")
    host.open(0)
    assert host.put(one, "a") is True
    assert host.put(first, "b") is False


def _takes(host: Host, session: int) -> None:
    host.service.act(session, "connect", "get_tasks", 0, 0.0, "get")


def test_a_rank_that_took_a_request_and_dies_before_it_answers_is_lost(host: Host) -> None:
    """At once, and its successor owes nothing."""
    old, one = host.open(0), host.open(1)
    _takes(host, old)
    host.put(one, "a")
    with pytest.raises(CommTimeoutError):
        host.collect(round_limit=0.0)
    host.put(one, "b")
    host.service.lose_session(old)
    with pytest.raises(PeerLostError) as caught:
        host.collect()
    assert caught.value.missing == (0,)
    new = host.open(0)
    assert [host.put(one, "a"), host.put(new, "a")] == [False, True]
    assert host.collect() is not None


def test_it_is_not_lost_while_another_handle_may_answer(host: Host) -> None:
    old, one, other = host.open(0), host.open(1), host.open(0)
    _takes(host, old)
    host.put(one, "a")
    host.service.lose_session(old)
    assert host.collect() is None
    assert host.put(other, "a") is True


def test_the_end_of_a_handle_that_never_acted_says_nothing_about_its_rank(host: Host) -> None:
    """It may have been an engine's."""
    idle, one = host.open(0), host.open(1)
    host.put(one, "a")
    host.service.lose_session(idle)
    assert host.collect() is None
    assert host.put(host.open(0), "a") is True


def test_what_was_never_heard_is_owed_by_the_rank(host: Host) -> None:
    """A process that is killed before the host has heard its first answer was no member of the gate. Its rank is
    waited for, and the next answer to that request is taken for the late one, once; its put is told so."""
    old, one = host.open(0), host.open(1)
    host.put(one, "a")
    host.service.lose_session(old)  # its answer may have been under way
    with pytest.raises(CommTimeoutError) as caught:
        host.collect(round_limit=0.0)
    assert caught.value.missing == (0,)
    new = host.open(0)
    host.put(one, "a")
    with pytest.raises(StaleAnswerError):
        host.put(new, "a")
    assert host.collect() is None
    assert host.put(new, "a") is True
    assert host.collect() is not None
