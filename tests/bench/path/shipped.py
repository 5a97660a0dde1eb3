"""The shipped protocol as a subject, on raw manager proxies: over TCP, as it is by default, or over a unix socket."""

from __future__ import annotations

import multiprocessing
import time
from typing import Any

from tests.bench.path.subject import Batch, Get, Subject

__all__ = ("POLL_S", "Shipped")

POLL_S = 0.0002
"""Between two looks of a reader, as in FastDeploy's workers."""

_FORK = multiprocessing.get_context("fork")


class Shipped(Subject):
    """Readers poll the exist flag in shared memory, and then take the batch by the proxies' round trips.

    In FastDeploy a barrier between the ranks keeps one that has read from reading again before the others have. Here
    the number of the last put does, in shared memory: that favours the shipped protocol, which pays nothing for it.
    """

    def __init__(self, *, tcp: bool) -> None:
        self.name = "shipped, TCP" if tcp else "shipped, Unix socket"
        self._tcp = tcp
        self._host: Any = None
        self._queue: Any = None

    def load(self) -> None:
        import tests.races.shipped  # noqa: F401

    def start(self, ranks: int, largest: int) -> None:
        super().start(ranks, largest)
        self._puts = _FORK.RawValue("q", 0)

    def open_writer(self) -> dict[str, Any]:
        from tests.races.shipped_host import ShippedHost

        self._host = host = ShippedHost(self.ranks, tcp=self._tcp, folder=self.folder)
        address = host.address if isinstance(host.address, str) else ("0.0.0.0", host.address[1])
        orders = {"address": address, "key": host.key, "words": host.words}
        self._queue = self._client(orders, 0)
        return orders

    def _client(self, orders: dict[str, Any], rank: int) -> Any:
        from tests.races.shipped import ShippedQueue

        place = orders["address"], orders["key"], self.ranks, rank, orders["words"]
        return ShippedQueue(*place, hook=self._count)

    def _count(self, step: str) -> None:
        if step == "put.empty":  # all have read, and nothing is raised: whoever looks from now on waits for this put
            self._puts.value += 1

    def open_reader(self, rank: int, orders: Any) -> Get:
        self._queue = queue = self._client(orders, rank)
        puts, taken = self._puts, 0

        def get() -> Batch:
            nonlocal taken
            while puts.value <= taken or not queue.exist_tasks():
                time.sleep(POLL_S)
            batches = queue.get_tasks()[0]
            while not batches:  # the flag was still raised from the round before
                time.sleep(POLL_S)
                batches = queue.get_tasks()[0]
            taken += 1
            return batches[0][0]  # type: ignore[no-any-return]

        return get

    def put(self, batch: Batch) -> None:
        self._queue.put_tasks((batch, batch[0]["number"]))

    def helpers(self) -> list[int]:
        return [self._host.process.pid]

    def close(self) -> None:
        if self._queue is not None:
            self._queue.close()
        if self._host is not None:
            self._host.stop()
