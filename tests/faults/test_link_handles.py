"""Handles on other machines that are forked, or interrupted in the middle of a call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.forked import refused_in_a_child
from tests.faults.remote import LIMIT_S, Failed, Remote, until
from tests.faults.zsockets import sockets_end, zeromq_runs

__all__ = ("sockets_end", "zeromq_runs")


@pytest.fixture
def engine() -> Iterator[EngineWorkerQueue]:
    """A host with a door, for one rank."""
    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=1, transport="zmq") as queue:
        yield queue


def _open(worker: Remote, engine: EngineWorkerQueue, role: str) -> None:
    worker.open(engine.get_server_port(), client_id=0, role=role, link={})


@pytest.mark.parametrize("point", ["call.send", "call.sent", "call.received"])
def test_an_interrupted_get_ends_its_session(engine: EngineWorkerQueue, point: str) -> None:
    """Its answer is nobody's, and no batch is handed to a call for which nobody waits."""
    with Remote() as worker:
        _open(worker, engine, "reader")
        worker.ask("arm", point, "interrupt")
        with pytest.raises(Failed, match="KeyboardInterrupt"):
            worker.call("get_tasks")
        until(lambda: engine.statistics().lost == (0,), "the host gives the handle up")
        for method in ("get_tasks", "num_tasks", "clear_data"):
            with pytest.raises(Failed, match=r"FencedError: .*open a new one|FencedError: .*open a new handle"):
                worker.call(method)
        worker.call("close")
        _open(worker, engine, "reader")
        engine.put_tasks("next", timeout=LIMIT_S)
        assert worker.call("get_tasks", timeout=LIMIT_S)[0] == ["next"]


def test_an_interrupted_put_is_withdrawn(engine: EngineWorkerQueue) -> None:
    with Remote() as producer, EngineWorkerQueue(engine.address, client_id=0) as reader:
        _open(producer, engine, "producer")
        engine.put_tasks("unread", timeout=LIMIT_S)
        producer.ask("arm", "call.sent", "interrupt")
        with pytest.raises(Failed, match="KeyboardInterrupt"):
            producer.call("put_tasks", "withdrawn", timeout=None)
        until(lambda: engine.statistics().sessions == 2, "the host gives the handle up")
        assert engine.statistics().waiting_puts == 0
        assert reader.get_tasks(timeout=LIMIT_S)[0] == ["unread"]
        assert reader.get_tasks() == ([], True)


def test_a_forked_child_is_told_and_the_parent_goes_on(engine: EngineWorkerQueue) -> None:
    with EngineWorkerQueue(engine.address, client_id=0, role="reader", transport="zmq") as reader:
        engine.put_tasks("a batch", timeout=LIMIT_S)
        assert refused_in_a_child(reader.get_tasks, reader.num_tasks, reader.clear_data) == 3
        assert reader.get_tasks(timeout=LIMIT_S)[0] == ["a batch"]
        assert engine.statistics().lost == ()
