"""Ctrl-C, or a signal handler that raises, in the middle of a call."""

from __future__ import annotations

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.interrupted import ends_its_session, goes_on, is_withdrawn
from tests.faults.remote import Failed, Remote


@pytest.mark.parametrize("point", ["call.send", "call.sent", "call.received"])
def test_interrupted_get(point: str) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine, Remote() as worker:
        ends_its_session(engine, worker, point, r"FencedError: .*open a new one")
        with pytest.raises(Failed, match=r"HostLostError: .*this handle has lost it"):
            worker.call("exist_tasks")
        goes_on(engine, worker)


def test_interrupted_put_is_withdrawn() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine, Remote() as producer:
        is_withdrawn(engine, producer)
