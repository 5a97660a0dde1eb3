"""What the parity tests run on: one real host with two replicas, an engine's handle to one of them, and its ranks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import fdcomm.wire
from fdcomm import EngineCacheQueue, EngineWorkerQueue
from fdcomm.session import DataPathName

__all__ = ("DP_SIZE", "LIMIT_S", "PLACES", "TP_SIZES", "Counter", "Place", "World", "counted", "opened")

LIMIT_S = 60.0
DP_SIZE = 2
TP_SIZES = (1, 2, 4, 8)

Q = TypeVar("Q", EngineWorkerQueue, EngineCacheQueue)


@dataclass(frozen=True)
class Place:
    """Where a test runs: through which instance, with how many ranks, on which replica."""

    through: str
    tp: int
    dp: int

    def __str__(self) -> str:
        return f"{self.through}-tp{self.tp}-dp{self.dp}"


# Every size and both replicas through both instances: the queue's methods do not know which of them they are on.
PLACES = [Place(through, tp, dp) for tp in TP_SIZES for dp in range(DP_SIZE) for through in ("server", "client")]


@dataclass
class World(Generic[Q]):
    """An engine's handle, the handles of all ranks of its replica, and one to the other replica."""

    place: Place
    server: Q
    engine: Q
    ranks: list[Q]
    other: Q

    def flags(self, first: int, idle: int) -> list[int]:
        """Return the flags when rank 0 alone has done its part: with one rank that was all, and they are ``idle``."""
        return [first, *[0] * (self.place.tp - 1)] if self.place.tp > 1 else [idle]


@contextmanager
def opened(queue: type[Q], place: Place, data_path: DataPathName = "auto") -> Iterator[World[Q]]:
    """Start a host and open all handles, whose items go by that way."""
    with ExitStack() as undo:

        def entered(handle: Any) -> Any:
            return undo.enter_context(handle)

        sizes: dict[str, Any] = {"num_client": place.tp, "local_data_parallel_size": DP_SIZE}
        server = entered(
            queue(("0.0.0.0", 0), is_server=True, local_data_parallel_id=place.dp, data_path=data_path, **sizes)
        )
        address = ("0.0.0.0", server.get_server_port())

        def client(rank: int, dp: int) -> Any:
            return entered(queue(address, client_id=rank, local_data_parallel_id=dp, **sizes))

        # As FastDeploy's engine does: under the id that rank 0 has, too.
        engine = server if place.through == "server" else client(0, place.dp)
        ranks = [client(rank, place.dp) for rank in range(place.tp)]
        yield World(place, server, engine, ranks, client(0, 1 - place.dp))


class Counter:
    """Counts this thread's messages to and from hosts, and the connections that it opens."""

    def __init__(self) -> None:
        self.sent = 0
        self.received = 0
        self.connections = 0
        self._thread = threading.get_ident()

    def add(self, *, sent: int = 0, received: int = 0, connections: int = 0) -> None:
        """Count, in the thread that made this counter."""
        if threading.get_ident() == self._thread:
            self.sent += sent
            self.received += received
            self.connections += connections

    def trips(self) -> tuple[int, int]:
        """Return the messages sent and received, and start again from 0."""
        seen = self.sent, self.received
        self.sent = self.received = 0
        return seen


@contextmanager
def counted() -> Iterator[Counter]:
    """Count what goes over the connections that are opened in the block."""
    counter = Counter()
    wire: Any = fdcomm.wire
    original: Any = wire.Connection

    class Counting(original):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            counter.add(connections=1)
            super().__init__(*args, **kwargs)

        # What every way to send or receive a message comes down to.
        def _send_bytes(self, message: Any) -> None:
            counter.add(sent=1)
            super()._send_bytes(message)

        def _recv_bytes(self, limit: int | None = None) -> Any:
            counter.add(received=1)
            return super()._recv_bytes(limit)

    wire.Connection = Counting
    try:
        yield counter
    finally:
        wire.Connection = original
