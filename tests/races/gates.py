"""The gates of both variants behind one interface, for the scenarios of their races."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from fdcomm import EngineWorkerQueue
from tests.races.shipped_gate import ShippedGate, combine_added, combine_finished, combine_responses
from tests.races.variants import LOCK_S, POLLS, Ours, Shipped, Variant

__all__ = ("FEW_S", "GateClient", "added", "finished", "responses")

FEW_S = 0.02
"""Limit of one of our calls that is expected to end by it."""


class GateClient(Protocol):
    """A client of one gate, in the engine or in a rank."""

    def put(self, answer: Any) -> bool: ...

    def get(self) -> Any: ...


class _Ours:
    """``get`` ends a round after ``round_s`` seconds, if that is given."""

    def __init__(self, queue: EngineWorkerQueue, put: str, get: str, wrap: Callable[[Any], Any]) -> None:
        self.queue = queue
        self.round_s: float | None = None
        self._put: Callable[..., bool] = getattr(queue, put)
        self._get: Callable[..., Any] = getattr(queue, get)
        self._wrap = wrap

    def put(self, answer: Any) -> bool:
        return self._put(self._wrap(answer), timeout=FEW_S)

    def get(self) -> Any:
        return self._get(round_timeout=self.round_s) or None


def _client(
    variant: Variant,
    rank: int | None,
    combine: Callable[[list[Any]], Any],
    put: str,
    get: str,
    wrap: Callable[[Any], Any] = lambda answer: answer,
) -> GateClient:
    if isinstance(variant, Shipped):
        return ShippedGate(variant.host.address, variant.host.key, rank or 0, combine, POLLS, LOCK_S)
    assert isinstance(variant, Ours)
    return _Ours(variant.engine() if rank is None else variant.reader(rank), put, get, wrap)


def responses(variant: Variant, rank: int | None = None) -> GateClient:
    """Return a client for connect responses; None is the engine."""
    return _client(variant, rank, combine_responses, "put_connect_rdma_task_response", "get_connect_rdma_task_response")


def finished(variant: Variant, rank: int | None = None) -> GateClient:
    """Return a client for finished requests; an answer is one pair."""
    return _client(variant, rank, combine_finished, "put_finished_req", "get_finished_req", lambda pair: [pair])


def added(variant: Variant, rank: int | None = None) -> GateClient:
    """Return a client for added cache tasks."""
    return _client(variant, rank, combine_added, "put_finished_add_cache_task_req", "get_finished_add_cache_task_req")
