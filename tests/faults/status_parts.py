"""Two parts of one component, in this process."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from fdcomm import EngineWorkerQueue, StatusPart
from tests.conformance.waiting import Background

__all__ = ("CACHE", "done", "two_parts")

CACHE = [("kv_cache", 0, 2)]


def two_parts(server: EngineWorkerQueue, stack: ExitStack) -> list[StatusPart]:
    """Return them; their handles are closed with the stack."""
    queues = [stack.enter_context(EngineWorkerQueue(server.address, num_client=2, client_id=rank)) for rank in range(2)]
    return [StatusPart(queue, "kv_cache") for queue in queues]


def done(call: Background, parts: list[StatusPart]) -> Any:
    """Do what is asked of the parts until the call has ended; return its value."""
    while call.is_running():
        for part in parts:
            order = part.take()
            if order is not None:
                order.done()
    return call.value()
