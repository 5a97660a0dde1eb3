"""What a queue costs besides a dispatch: start, connecting, a thread's first call, memory, an idle look."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable

from tests.bench.clients import HOSTS, Client
from tests.bench.dispatch import Stage

__all__ = ("COSTS", "costs")

COSTS = {
    "host_start_ms": "start of the host, ms",
    "connect_ms": "connecting one client, ms",
    "first_call_ms": "first call of a new thread, ms",
    "call_us": "a later call (num_tasks), µs",
    "exist_us": "exist_tasks() on an idle queue, µs",
    "client_kib": "memory of a client with its modules, KiB",
    "host_kib": "memory of one client in the host, KiB",
    "host_empty_kib": "memory of the host without clients, KiB",
}
"""Key -> what it is, for the table."""

_CALLS = 200


def costs(rounds: int, clients: int) -> dict[str, dict[str, list[float]]]:
    """Return for each host and cost the value of each round. ``clients`` are connected to find one's memory."""
    found: dict[str, dict[str, list[float]]] = {kind: {key: [] for key in COSTS} for kind in HOSTS}
    for _ in range(rounds):
        for kind in HOSTS:
            for key, value in _one(kind, clients).items():
                found[kind][key].append(value)
    return found


def _one(kind: str, clients: int) -> dict[str, float]:
    with Stage(kind, clients) as stage:
        engine: Client = stage.engine
        return {
            "host_start_ms": stage.start_s * 1000,
            "connect_ms": statistics.median(facts["connect_s"] for facts in stage.facts) * 1000,
            "first_call_ms": statistics.median(_first_call_s(engine) for _ in range(5)) * 1000,
            "call_us": _each_s(engine.num_tasks) * 1e6,
            "exist_us": _each_s(engine.exist_tasks) * 1e6,
            "client_kib": statistics.median(facts["client_kib"] for facts in stage.facts),
            "host_kib": stage.reader_kib,
            "host_empty_kib": stage.empty_kib,
        }


def _first_call_s(engine: Client) -> float:
    """Time of the first call of a thread, which opens a connection."""
    taken: list[float] = []

    def call() -> None:
        start = time.perf_counter()
        engine.num_tasks()
        taken.append(time.perf_counter() - start)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return taken[0]


def _each_s(call: Callable[[], object]) -> float:
    """Time of one call: the median of ten batches."""
    taken = []
    for _ in range(10):
        start = time.perf_counter()
        for _ in range(_CALLS // 10):
            call()
        taken.append((time.perf_counter() - start) / (_CALLS // 10))
    return statistics.median(taken)
