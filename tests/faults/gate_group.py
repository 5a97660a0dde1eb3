"""An engine and two ranks, for the tests of the gates."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from fdcomm import EngineWorkerQueue, FdcommError

__all__ = ("Group", "opened_group", "opened_host")

_replicas = itertools.count(1)


class Group:
    """An engine and two ranks on one replica of a host."""

    def __init__(self, host: EngineWorkerQueue, replica: int = 0) -> None:
        self.host = host
        self.replica = replica
        self.engine = self.client(0, "producer")
        self.ranks = [self.client(0), self.client(1)]

    def client(self, rank: int, role: Any = None) -> EngineWorkerQueue:
        return EngineWorkerQueue(
            self.host.address, num_client=2, client_id=rank, local_data_parallel_id=self.replica, role=role
        )

    def view(self) -> dict[str, Any]:
        return self.engine._view("send_cache", name="view")

    def close(self) -> None:
        for handle in (self.engine, *self.ranks):
            handle.close()


@contextlib.contextmanager
def opened_host() -> Iterator[EngineWorkerQueue]:
    """A host for many tests, with a replica for each."""
    with EngineWorkerQueue(
        ("0.0.0.0", 0), is_server=True, num_client=2, local_data_parallel_size=200, max_batch_bytes=1 << 20
    ) as server:
        yield server


@contextlib.contextmanager
def opened_group(host: EngineWorkerQueue) -> Iterator[Group]:
    """Two ranks; afterwards a request is served as ever."""
    group = Group(host, next(_replicas))
    try:
        yield group
        for _ in range(65):  # what the test has left open
            with contextlib.suppress(FdcommError):
                if not group.engine.get_finished_req(round_timeout=0):
                    break
        for rank in group.ranks:
            rank.put_finished_req([["still works", "finished"]])
        assert group.engine.get_finished_req() == [["still works", "finished"]]
    finally:
        group.close()
