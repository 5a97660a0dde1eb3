"""Calls that are interrupted in the middle, over any transport.

The answer of the interrupted call must not become the answer of the next one, and the host must not hand a batch to
a call that nobody waits for.
"""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.remote import LIMIT_S, Failed, Remote, until

__all__ = ("ends_its_session", "goes_on", "is_withdrawn")


def ends_its_session(engine: EngineWorkerQueue, worker: Remote, point: str, told: str, **way: Any) -> None:
    """Interrupt a get at a point: the handle is of no use then.

    Args:
        engine: The server, for one rank.
        worker: The process of the rank.
        point: Where to interrupt.
        told: What later calls of the handle say.
        way: How the process connects.
    """
    worker.open(engine.get_server_port(), client_id=0, role="reader", **way)
    worker.ask("arm", point, "interrupt")
    with pytest.raises(Failed, match="KeyboardInterrupt"):
        worker.call("get_tasks")
    until(lambda: engine.statistics().lost == (0,), "the host gives the handle up")
    for method in ("get_tasks", "num_tasks", "clear_data"):
        with pytest.raises(Failed, match=told):
            worker.call(method)


def goes_on(engine: EngineWorkerQueue, worker: Remote, **way: Any) -> None:
    """Close the handle, and open its successor, which gets what comes."""
    worker.call("close")
    worker.open(engine.get_server_port(), client_id=0, role="reader", **way)
    engine.put_tasks("next", timeout=LIMIT_S)
    assert worker.call("get_tasks", timeout=LIMIT_S)[0] == ["next"]


def is_withdrawn(engine: EngineWorkerQueue, producer: Remote, **way: Any) -> None:
    """Interrupt a put that waits for room: it is not carried out."""
    producer.open(engine.get_server_port(), client_id=0, role="producer", **way)
    engine.put_tasks("unread", timeout=LIMIT_S)
    producer.ask("arm", "call.sent", "interrupt")
    with pytest.raises(Failed, match="KeyboardInterrupt"):
        producer.call("put_tasks", "withdrawn", timeout=None)
    until(lambda: engine.statistics().sessions == 1, "the host gives the handle up")
    assert engine.statistics().waiting_puts == 0
    with EngineWorkerQueue(engine.address, client_id=0) as reader:
        assert reader.get_tasks(timeout=LIMIT_S)[0] == ["unread"]
        assert reader.get_tasks() == ([], True)
