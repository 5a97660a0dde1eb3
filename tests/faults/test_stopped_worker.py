"""SIGSTOP of a worker: the engine's put gives up and names it; after SIGCONT everything goes on, nothing is lost."""

from __future__ import annotations

import pytest

from fdcomm import CommTimeoutError, EngineWorkerQueue
from tests.faults.remote import LIMIT_S, Remote, stopped


def test_stopped_worker() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as engine, Remote() as worker:
        worker.open(engine.get_server_port(), num_client=2, client_id=1, role="reader")
        with EngineWorkerQueue(engine.address, num_client=2, client_id=0, role="reader") as other:
            engine.put_tasks("first", timeout=LIMIT_S)
            assert other.get_tasks()[0] == ["first"]
            with stopped(worker.process.pid):
                worker.send("call", "get_tasks", timeout=LIMIT_S)
                with pytest.raises(CommTimeoutError, match="rank 1 has not read") as caught:
                    engine.put_tasks("second", timeout=0.05)
                assert caught.value.missing == (1,)
                assert caught.value.waited_s >= 0.05
                assert engine.num_tasks() == 1
            assert worker.answer() == [["first"], True]
            engine.put_tasks("second", timeout=LIMIT_S)
            assert worker.call("get_tasks", timeout=LIMIT_S)[0] == ["second"]
            assert other.get_tasks(timeout=LIMIT_S) == (["second"], True)


def test_the_others_read_what_was_put_before() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, depth=3) as engine, Remote() as worker:
        worker.open(engine.get_server_port(), num_client=2, client_id=1, role="reader")
        with EngineWorkerQueue(engine.address, num_client=2, client_id=0, role="reader") as other:
            with stopped(worker.process.pid):
                for number in range(3):
                    engine.put_tasks(number, timeout=LIMIT_S)
                    assert other.get_tasks(timeout=LIMIT_S) == ([number], False)
                with pytest.raises(CommTimeoutError):
                    engine.put_tasks(3, timeout=0)
            assert [worker.call("get_tasks", timeout=LIMIT_S)[0][0] for _ in range(3)] == [0, 1, 2]
