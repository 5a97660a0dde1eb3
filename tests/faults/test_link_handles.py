"""Handles on other machines that are forked, or interrupted in the middle of a call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.forked import refused_in_a_child
from tests.faults.interrupted import ends_its_session, goes_on, is_withdrawn
from tests.faults.remote import LIMIT_S, Remote
from tests.faults.zsockets import sockets_end, zeromq_runs

__all__ = ("sockets_end", "zeromq_runs")


@pytest.fixture
def engine() -> Iterator[EngineWorkerQueue]:
    """A host with a door, for one rank."""
    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=1, transport="zmq") as queue:
        yield queue


@pytest.mark.parametrize("point", ["call.send", "call.sent", "call.received"])
def test_an_interrupted_get_ends_its_session(engine: EngineWorkerQueue, point: str) -> None:
    with Remote() as worker:
        ends_its_session(engine, worker, point, r"FencedError: .*open a new handle", link={})
        goes_on(engine, worker, link={})


def test_an_interrupted_put_is_withdrawn(engine: EngineWorkerQueue) -> None:
    with Remote() as producer:
        is_withdrawn(engine, producer, link={})


def test_a_forked_child_is_told_and_the_parent_goes_on(engine: EngineWorkerQueue) -> None:
    with EngineWorkerQueue(engine.address, client_id=0, role="reader", transport="zmq") as reader:
        engine.put_tasks("a batch", timeout=LIMIT_S)
        assert refused_in_a_child(reader.get_tasks, reader.num_tasks, reader.clear_data) == 3
        assert reader.get_tasks(timeout=LIMIT_S)[0] == ["a batch"]
        assert engine.statistics().lost == ()
