"""Ctrl-C, or a signal handler that raises, in the middle of a call.

The answer of the interrupted call must not become the answer of the next one, and the host must not hand a batch to
a call that nobody waits for.
"""

from __future__ import annotations

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.remote import LIMIT_S, Failed, Remote, until


@pytest.mark.parametrize("point", ["call.send", "call.sent", "call.received"])
def test_interrupted_get(point: str) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine, Remote() as worker:
        worker.open(engine.get_server_port(), client_id=0, role="reader")
        worker.ask("arm", point, "interrupt")
        with pytest.raises(Failed, match="KeyboardInterrupt"):
            worker.call("get_tasks")
        until(lambda: engine.statistics().lost == (0,), "the host gives the handle up")
        for method in ("get_tasks", "num_tasks", "clear_data"):
            with pytest.raises(Failed, match=r"FencedError: .*open a new one"):
                worker.call(method)
        with pytest.raises(Failed, match=r"HostLostError: .*this handle has lost it"):
            worker.call("exist_tasks")
        worker.call("close")
        worker.open(engine.get_server_port(), client_id=0, role="reader")
        engine.put_tasks("next", timeout=LIMIT_S)
        assert worker.call("get_tasks", timeout=LIMIT_S)[0] == ["next"]


def test_interrupted_put_is_withdrawn() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine, Remote() as producer:
        producer.open(engine.get_server_port(), client_id=0, role="producer")
        engine.put_tasks("unread", timeout=LIMIT_S)
        producer.ask("arm", "call.sent", "interrupt")
        with pytest.raises(Failed, match="KeyboardInterrupt"):
            producer.call("put_tasks", "withdrawn", timeout=None)
        until(lambda: engine.statistics().sessions == 1, "the host gives the handle up")
        assert engine.statistics().waiting_puts == 0
        with EngineWorkerQueue(engine.address, client_id=0) as reader:
            assert reader.get_tasks(timeout=LIMIT_S)[0] == ["unread"]
            assert reader.get_tasks() == ([], True)
