"""Fixtures of readiness: a host that knows a component of two parts and one that needs it, and the two parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from fdcomm import EngineWorkerQueue, Readiness
from tests.races.readiness_race import health_of

__all__ = ("COMPONENTS", "health", "parts", "server")

COMPONENTS: list[Any] = [("cache", 2), ("worker", 1, ["cache"])]


@pytest.fixture
def server() -> Iterator[EngineWorkerQueue]:
    """A host for two ranks, with a component of two parts and one that needs it."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as queue:
        Readiness(queue).declare(COMPONENTS)
        yield queue


@pytest.fixture
def parts(server: EngineWorkerQueue) -> Iterator[list[Readiness]]:
    """The two parts of the cache, in this process, without loops."""
    with ExitStack() as stack:
        queues = [
            stack.enter_context(EngineWorkerQueue(server.address, num_client=2, client_id=rank)) for rank in range(2)
        ]
        yield [Readiness(queue, limit=None) for queue in queues]


def health(server: EngineWorkerQueue, rank: int) -> str:
    """Return how a part of the cache is."""
    return health_of(Readiness(server).health(), "cache", rank)
