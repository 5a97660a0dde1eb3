"""SIGKILL, SIGSTOP, fork and the host's death during control requests: a typed error or progress, and clean after."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial

import pytest

from fdcomm import CommTimeoutError, EngineWorkerQueue, HostLostError, PeerLostError
from fdcomm.control import ControlClient, ControlServer
from tests.conformance.waiting import Background
from tests.faults.forked import refused_in_a_child
from tests.faults.json_child import child_of, heard
from tests.faults.remote import LIMIT_S, host_pid, stopped, until

_child = partial(child_of, "tests.faults.control_child")


@pytest.fixture
def server() -> Iterator[EngineWorkerQueue]:
    """A host for two ranks."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as queue:
        yield queue


@pytest.fixture
def zero(server: EngineWorkerQueue) -> Iterator[EngineWorkerQueue]:
    """Rank 0, in this process."""
    with EngineWorkerQueue(server.address, num_client=2, client_id=0) as queue:
        yield queue


def _answer(queue: EngineWorkerQueue) -> None:
    request = ControlServer(queue).take(timeout=LIMIT_S)
    assert request is not None
    request.answer(request.payload)


@pytest.mark.parametrize("payload", ["never", "die"])
def test_a_rank_is_killed_while_it_does_a_request(
    server: EngineWorkerQueue, zero: EngineWorkerQueue, payload: str
) -> None:
    client = ControlClient(server)
    with _child(server, rank=1) as child:
        asked = Background(partial(client.ask, payload, timeout=LIMIT_S))
        _answer(zero)
        if payload == "never":
            assert heard(child) == "doing"
            child.kill()
        error = asked.error()
    assert isinstance(error, PeerLostError)
    assert (error.missing, error.request) == ((1,), 1)
    with _child(server, rank=1):
        asked = Background(partial(client.ask, "again", timeout=LIMIT_S))
        _answer(zero)
        assert asked.value().ok


def test_a_rank_that_is_stopped_is_named_and_its_late_answer_counts_for_nothing(
    server: EngineWorkerQueue, zero: EngineWorkerQueue
) -> None:
    client = ControlClient(server)
    with _child(server, rank=1) as child:
        with stopped(child.pid):
            asked = Background(partial(client.ask, "first", timeout=0.2))
            _answer(zero)
            error = asked.error()
            assert isinstance(error, CommTimeoutError)
            assert error.missing == (1,)
        asked = Background(partial(client.ask, "second", timeout=LIMIT_S))
        _answer(zero)
        assert [answer.value for answer in asked.value().answers] == ["second"] * 2


def test_what_a_killed_client_has_asked_is_withdrawn(server: EngineWorkerQueue, zero: EngineWorkerQueue) -> None:
    watcher = ControlClient(server)
    with _child(server, ask="something") as child:
        until(lambda: len(watcher.statistics().waiting_for) == 1, "the request")
        child.kill()
        until(lambda: watcher.statistics().waiting_for == (), "the withdrawal")
    assert ControlServer(zero).take() is None


def test_the_host_dies_while_requests_are_open(server: EngineWorkerQueue, zero: EngineWorkerQueue) -> None:
    client = ControlClient(server)
    asked = Background(partial(client.ask, "a", timeout=LIMIT_S))
    request = ControlServer(zero).take(timeout=LIMIT_S)
    assert request is not None
    pid = host_pid(server)
    with _child(server, rank=1) as child:
        waiting = Background(partial(client.ask, "b", timeout=None))
        until(lambda: client.statistics().asked == 2, "the second request")
        os.kill(pid, signal.SIGKILL)
        assert isinstance(asked.error(), HostLostError)
        assert isinstance(waiting.error(), HostLostError)
        with pytest.raises(HostLostError):
            request.answer()
        assert child.wait(LIMIT_S) != 0  # its loop has raised


def test_a_forked_child_is_told(server: EngineWorkerQueue, zero: EngineWorkerQueue) -> None:
    assert refused_in_a_child(lambda: ControlServer(zero).take()) == 1
    client = ControlClient(server)
    with _child(server, rank=1):
        asked = Background(partial(client.ask, "a", timeout=LIMIT_S))
        _answer(zero)
        assert asked.value().ok
