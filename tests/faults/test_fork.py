"""A handle that comes to a process by fork is refused there, and does not keep alive what the parent was."""

from __future__ import annotations

import os

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.remote import LIMIT_S, Remote, is_gone, until


@pytest.mark.parametrize("method", ["get_tasks", "exist_tasks", "task_ticket", "num_tasks", "clear_data", "statistics"])
def test_use_after_fork(method: str) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine, Remote() as worker:
        worker.open(engine.get_server_port(), client_id=0, role="reader")
        text = worker.ask("use_in_fork", method)
        assert text.startswith("ForkedHandleError: ")
        assert "open a new one here" in text
        engine.put_tasks(1, timeout=LIMIT_S)
        assert worker.call("get_tasks", timeout=LIMIT_S)[0] == [1]  # the parent's handle is as it was


def test_a_forked_child_does_not_keep_the_rank() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine, Remote() as worker:
        worker.open(engine.get_server_port(), client_id=0, role="reader")
        child = worker.ask("fork")
        try:
            worker.kill()
            until(lambda: engine.statistics().lost == (0,), "the host sees the end of the reader")
            assert not is_gone(child)
        finally:
            os.kill(child, 9)


def test_closing_in_the_child_closes_nothing_of_the_parent() -> None:
    with Remote() as owner:
        port = owner.open(0, is_server=True)
        assert owner.ask("use_in_fork", "cleanup") == "None"
        with EngineWorkerQueue(("0.0.0.0", port), client_id=0) as client:
            owner.call("put_tasks", 1, timeout=LIMIT_S)
            assert client.get_tasks(timeout=LIMIT_S)[0] == [1]
