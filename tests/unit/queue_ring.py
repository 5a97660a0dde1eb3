"""Hosts whose items go through rings, and groups of handles to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

import pytest

from fdcomm import EngineWorkerQueue

__all__ = ("LONG_S", "MOST", "Group", "Hosts", "group", "hosts", "take", "used")

LONG_S = 60.0
"""Time limit of calls that must succeed: a watchdog."""
MOST = 16 << 20


class Hosts:
    """Two hosts with replicas, one for each test; and hosts of a test's own."""

    def __init__(self) -> None:
        self._undo = ExitStack()
        self._next = count()
        self.replicas = 12
        self._shared: dict[int, EngineWorkerQueue] = {}

    def start(self, depth: int = 1, replicas: int = 1, **options: Any) -> EngineWorkerQueue:
        """Start a host."""
        options = {"data_path": "ring", "max_batch_bytes": MOST, "num_client": 2, **options}
        server = EngineWorkerQueue(
            ("0.0.0.0", 0), is_server=True, depth=depth, local_data_parallel_size=replicas, **options
        )
        self._undo.callback(server.close)
        return server

    def group(self, depth: int = 1) -> Group:
        """Return an engine and two ranks at a replica of their own."""
        server = self._shared.get(depth) or self._shared.setdefault(depth, self.start(depth, self.replicas))
        return Group(server, next(self._next) % self.replicas)

    def close(self) -> None:
        """End them."""
        self._undo.close()


class Group:
    """Handles to one replica."""

    def __init__(self, server: EngineWorkerQueue, replica: int = 0) -> None:
        self.server, self.replica = server, replica
        self._undo = ExitStack()
        self.engine = self.client(0, role="producer")
        self.ranks = [self.client(rank, role="reader") for rank in range(2)]

    def client(self, client_id: int, **options: Any) -> EngineWorkerQueue:
        """Open a handle."""
        handle = EngineWorkerQueue(
            ("0.0.0.0", self.server.get_server_port()),
            num_client=2,
            client_id=client_id,
            local_data_parallel_size=self.server.local_data_parallel_size,
            local_data_parallel_id=self.replica,
            **options,
        )
        self._undo.callback(handle.close)
        return handle

    def close(self) -> None:
        """Close them."""
        self._undo.close()


@contextmanager
def used(group: Group) -> Iterator[Group]:
    """Close its handles at the end."""
    try:
        yield group
    finally:
        group.close()


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    found = Hosts()
    yield found
    found.close()


@pytest.fixture
def group(hosts: Hosts) -> Iterator[Group]:
    with used(hosts.group()) as found:
        yield found


def take(handle: EngineWorkerQueue) -> tuple[Any, bool]:
    """Take the next item: it, and whether all ranks have it now."""
    (item,), all_read = handle.get_tasks(timeout=LONG_S)
    return item, all_read
