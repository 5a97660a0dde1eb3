"""Fixtures of status: a host that knows a component of two parts, and the two parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from fdcomm import EngineWorkerQueue, StatusCoordinator, StatusPart
from tests.conformance.waiting import Background

__all__ = ("done", "parts", "server")


@pytest.fixture
def server() -> Iterator[EngineWorkerQueue]:
    """A host for two ranks, with one component of two parts."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as queue:
        StatusCoordinator(queue).declare([("kv_cache", 0, 2)])
        yield queue


@pytest.fixture
def parts(server: EngineWorkerQueue) -> Iterator[list[StatusPart]]:
    """The two parts, in this process."""
    with ExitStack() as stack:
        queues = [
            stack.enter_context(EngineWorkerQueue(server.address, num_client=2, client_id=rank)) for rank in range(2)
        ]
        yield [StatusPart(queue, "kv_cache") for queue in queues]


def done(call: Background, parts: list[StatusPart]) -> Any:
    """Do what is asked of the parts until the call has ended; return its value."""
    while call.is_running():
        for part in parts:
            order = part.take()
            if order is not None:
                order.done()
    return call.value()
