"""Race scenarios of the cache queue, cache infos and connect tasks: one function for each variant, as ``Race`` has."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdcomm import EngineCacheQueue, EngineWorkerQueue
from tests.races.race import Race, wait_until
from tests.races.shipped import Hook
from tests.races.shipped_cache import ShippedCacheHost, ShippedCacheQueue, ShippedInfoQueue
from tests.races.variants import POLLS

__all__ = ("CacheOurs", "CacheRace", "CacheShipped", "CacheVariant")


class CacheShipped:
    """FastDeploy's protocol. ``kind`` chooses the queue."""

    def __init__(self, ranks: int, kind: str) -> None:
        self._stack = contextlib.ExitStack()
        self.host = self._stack.enter_context(ShippedCacheHost(ranks))
        self._queue = ShippedCacheQueue if kind == "cache" else ShippedInfoQueue

    def client(self, client_id: int, hook: Hook = lambda step: None) -> Any:
        """Return a client that gives up where the shipped one waits for ever."""
        return self._queue(self.host, client_id, hook=hook, polls=POLLS)

    def producer(self) -> Any:
        """Return a client that puts."""
        return self.client(0)

    def reader(self, rank: int) -> Any:
        """Return a client that reads for the rank."""
        return self.client(rank)

    def lose(self, reader: Any) -> None:
        """The reader's process is killed: it makes no call any more, and nobody is told."""

    def __enter__(self) -> CacheShipped:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


class CacheOurs:
    """fdcomm, with a real host process."""

    def __init__(self, ranks: int, kind: str) -> None:
        self._ranks = ranks
        self._stack = contextlib.ExitStack()
        queue: Any = EngineCacheQueue if kind == "cache" else EngineWorkerQueue
        self._queue = queue
        self.server = self._stack.enter_context(queue(("0.0.0.0", 0), is_server=True, num_client=ranks))

    def _client(self, client_id: int, role: str | None) -> Any:
        queue = self._queue(self.server.address, num_client=self._ranks, client_id=client_id, role=role)
        self._stack.callback(queue.close)
        return queue

    def producer(self) -> Any:
        """Return a client that puts."""
        return self._client(0, "producer")

    def reader(self, rank: int) -> Any:
        """Return a client that reads for the rank."""
        return self._client(rank, None)

    def lose(self, reader: Any) -> None:
        """The reader's connection ends as with its process, and the host has noticed."""
        rank = reader.client_id
        reader._release(goodbye=False)
        wait_until("the fence", lambda: rank in self.server.statistics().lost)

    def __enter__(self) -> CacheOurs:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


CacheVariant = CacheShipped | CacheOurs


@dataclass(frozen=True)
class CacheRace(Race):
    """A race of these queues."""

    shipped: Callable[[Any], str]
    ours: Callable[[Any], str]
    kind: str = "cache"

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped protocol."""
        with CacheShipped(self.ranks, self.kind) as variant:
            return self.shipped(variant)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with CacheOurs(self.ranks, self.kind) as variant:
            return self.ours(variant)
