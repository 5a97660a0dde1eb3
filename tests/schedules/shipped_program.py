"""The dispatch protocol as FastDeploy ships it, one operation per round trip, beside ours, for the same scenarios.

A lock by convention, a flag per rank, a list, and an exist flag apart. Written from the description of its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from fdcomm.errors import FencedError
from fdcomm.testing import ControlledRuntime, Program, Scenario
from tests.schedules.testbed import Testbed

__all__ = ("RACES", "Ours", "Shipped", "race")

_POLL_S = 0.001


class Queue(Protocol):
    """What a scenario needs of either variant. ``get`` never waits."""

    def put(self, who: int, batch: str) -> None: ...

    def get(self, rank: int) -> list[str]: ...

    def exist(self) -> bool: ...

    def count(self) -> int: ...

    def kill_putter(self, who: int) -> None: ...


class Shipped:
    """The steps as shipped. With ``lower_inside=False`` the last reader lowers exist after it gave the lock back."""

    def __init__(self, runtime: ControlledRuntime, ranks: int, *, lower_inside: bool = True) -> None:
        self._runtime = runtime
        self._ranks = ranks
        self._lower_inside = lower_inside
        self._lock = runtime.condition()
        self._words = runtime.words(ranks + 1)
        self._exist = ranks
        self._tasks: list[str] = []
        for rank in range(ranks):
            self._words[rank] = 1

    def put(self, who: int, batch: str) -> None:
        """Poll under the lock until every flag is 1; then replace the list, lower the flags, raise exist."""
        while True:
            with self._lock:
                if self._all_read():
                    self._change_list([])
                    for rank in range(self._ranks):
                        self._store(rank, 0)
                    self._change_list([batch])
                    self._store(self._exist, 1)
                    return
            self._runtime.sleep(_POLL_S)

    def get(self, rank: int) -> list[str]:
        """Copy the list, raise the own flag; the last one empties the list and lowers exist."""
        with self._lock:
            self._runtime.access("list", change=False)
            batches = list(self._tasks)
            self._store(rank, 1)
            last = self._all_read()
            if last:
                self._change_list([])
                if self._lower_inside:
                    self._store(self._exist, 0)
        if last and not self._lower_inside:
            self._store(self._exist, 0)
        return batches

    def exist(self) -> bool:
        """Read the flag, without the lock."""
        return self._runtime.load(self._words, self._exist) == 1

    def count(self) -> int:
        """Read the length of the list."""
        return len(self._tasks)

    def kill_putter(self, who: int) -> None:
        """The putter's process is killed: what it holds stays held."""
        self._runtime.kill(f"put {who}")

    def _all_read(self) -> bool:
        return sum(self._runtime.load(self._words, rank) for rank in range(self._ranks)) >= self._ranks

    def _store(self, word: int, value: int) -> None:
        self._runtime.store(self._words, word, value)

    def _change_list(self, tasks: list[str]) -> None:
        self._runtime.access("list", change=True)
        self._tasks = tasks


class Ours:
    """The shipping host service. A client that is killed is a connection that the host loses."""

    def __init__(self, runtime: ControlledRuntime, ranks: int) -> None:
        self.bed = Testbed(runtime, ranks)
        self._runtime = runtime
        self._engines = [self.bed.session(0, "producer") for _ in range(2)]
        self._readers = self.bed.readers()

    def put(self, who: int, batch: str) -> None:
        """Put, waiting for as long as it takes. The putter that was killed sees no answer."""
        with self.bed.expect(FencedError):
            self.bed.service.act(self._engines[who], "dispatch", "put_tasks", batch.encode(), None)

    def get(self, rank: int) -> list[str]:
        """Get what is there."""
        _, payload, _ = self.bed.service.act(self._readers[rank], "dispatch", "get_tasks", 0, 0.0)
        return [] if payload is None else [payload.decode()]

    def exist(self) -> bool:
        """Read the exist word."""
        return self._runtime.load(self.bed.words, 0) != 0

    def count(self) -> int:
        """Return how many batches are retained."""
        count: int = self.bed.core.num_tasks()
        return count

    def kill_putter(self, who: int) -> None:
        """The host loses the connection."""
        self.bed.service.lose_session(self._engines[who])


def _duplicate(runtime: ControlledRuntime, queue: Queue) -> Scenario:
    """P1.1: rank 0 asks twice while rank 1 has not read."""
    got: dict[int, list[str]] = {0: [], 1: []}

    def read(rank: int, times: int) -> None:
        for _ in range(times):
            got[rank] += queue.get(rank)

    def final() -> None:
        for rank, batches in got.items():
            assert len(set(batches)) == len(batches), f"rank {rank} got {batches}"

    return Scenario(
        {"put 0": lambda: queue.put(0, "A"), "rank 0": lambda: read(0, 2), "rank 1": lambda: read(1, 1)}, final=final
    )


def _lowered_late(runtime: ControlledRuntime, queue: Queue) -> Scenario:
    """B02: the last reader of A lowers the exist flag that the put of B has raised meanwhile."""

    def put() -> None:
        queue.put(0, "A")
        queue.put(0, "B")

    def read() -> None:
        while not queue.exist():
            runtime.sleep(_POLL_S)
        queue.get(0)

    def final() -> None:
        assert queue.exist() == bool(queue.count()), f"exist is {queue.exist()} with {queue.count()} batches"

    return Scenario({"put 0": put, "rank 0": read}, final=final)


def _killed_holder(runtime: ControlledRuntime, queue: Queue) -> Scenario:
    """G1: a putter is killed at any of its steps; another putter and the reader must go on."""
    got: list[str] = []

    def read() -> None:
        while "B" not in got:
            got.extend(queue.get(0))
            runtime.sleep(_POLL_S)

    def final() -> None:
        assert got in (["B"], ["A", "B"], ["B", "A"]), f"got {got}"

    return Scenario(
        {
            "put 0": lambda: queue.put(0, "A"),
            "put 1": lambda: queue.put(1, "B"),
            "rank 0": read,
            "killer": lambda: queue.kill_putter(0),
        },
        final=final,
    )


_Build = Callable[[ControlledRuntime, Queue], Scenario]

# id -> (ranks, scenario, verdict on the shipped steps)
RACES: dict[str, tuple[int, _Build, str]] = {
    "P1.1": (2, _duplicate, "invariant"),
    "B02": (1, _lowered_late, "invariant"),
    "G1": (1, _killed_holder, "deadlock"),
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the scenario of a race on the shipped steps or on ours."""
    ranks, scenario, _ = RACES[name]

    def build(runtime: ControlledRuntime) -> Scenario:
        queue = Shipped(runtime, ranks, lower_inside=name != "B02") if shipped else Ours(runtime, ranks)
        return scenario(runtime, queue)

    return Program(f"{name} on {'the shipped steps' if shipped else 'ours'}", build, {"race": name, "shipped": shipped})
