"""The two subjects of a race scenario, behind one interface: the shipped protocol and ours, on real processes."""

from __future__ import annotations

import contextlib
from typing import Any, Literal, Protocol

from fdcomm import EngineWorkerQueue
from fdcomm.session import DataPathName
from tests.races.child import Child
from tests.races.shipped import Hook, ShippedQueue
from tests.races.shipped_host import ShippedHost

__all__ = ("Ours", "Queue", "Shipped", "Variant")

POLLS = 40
"""After so many polls of one put a scenario says that it is stuck: nobody is left who could free it."""

LOCK_S = 0.7
"""After so long without the lock, likewise. Its holder is known to be dead before the wait begins."""


class Queue(Protocol):
    """What both have."""

    def put_tasks(self, tasks: Any) -> None: ...

    def get_tasks(self) -> tuple[list[Any], bool]: ...

    def exist_tasks(self) -> bool: ...

    def num_tasks(self) -> int: ...

    def clear_data(self) -> None: ...


class Variant(Protocol):
    """A running host, and clients of it in this process and in others."""

    def engine(self) -> Queue:
        """Return a new client that puts."""

    def reader(self, rank: int) -> Queue:
        """Return a new client that reads for the rank."""

    def child(self, rank: int, role: Literal["reader", "producer"] = "reader") -> Child:
        """Return a client in a process of its own."""


class Shipped:
    """FastDeploy's protocol."""

    def __init__(self, ranks: int = 2, *, tcp: bool = False) -> None:
        self.ranks = ranks
        self._stack = contextlib.ExitStack()
        self.host = ShippedHost(ranks, tcp=tcp)
        self._stack.callback(self.host.stop)

    def __enter__(self) -> Shipped:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def restart(self) -> None:
        """Kill the host and start another at the same address, with the same key."""
        old = self.host
        old.process.kill()
        old.process.wait()
        self.host = ShippedHost(self.ranks, folder=old.folder, key=old.key)
        self._stack.callback(self.host.stop)

    def client(
        self,
        client_id: int,
        *,
        hook: Hook = lambda step: None,
        name: str = "",
        lower_after_release: bool = False,
    ) -> ShippedQueue:
        """Return a client that gives up where the shipped one waits for ever; ``name`` is the host name to write."""
        host = self.host
        address = (name, host.address[1]) if name and not isinstance(host.address, str) else host.address
        queue = ShippedQueue(
            address,
            host.key,
            self.ranks,
            client_id,
            host.words,
            hook=hook,
            polls=POLLS,
            lock_s=LOCK_S,
            lower_after_release=lower_after_release,
        )
        self._stack.callback(queue.close)
        return queue

    def engine(self) -> ShippedQueue:
        return self.client(0)

    def reader(self, rank: int) -> ShippedQueue:
        return self.client(rank)

    def child(self, rank: int, role: Literal["reader", "producer"] = "reader") -> Child:
        host = self.host
        orders = {
            "variant": "shipped",
            "address": host.address,
            "key": host.key.hex(),
            "ranks": self.ranks,
            "rank": rank,
            "words": host.words,
        }
        child = Child(orders)
        self._stack.callback(child.kill)
        return child


class Ours:
    """fdcomm, with a real host process."""

    def __init__(self, ranks: int = 2, data_path: DataPathName = "auto") -> None:
        self.ranks = ranks
        self._stack = contextlib.ExitStack()
        self.server = EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=ranks, data_path=data_path)
        self._stack.callback(self.server.cleanup)
        self.port = self.server.get_server_port()

    def __enter__(self) -> Ours:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def client(self, rank: int, role: Literal["reader", "producer"], *, name: str = "0.0.0.0") -> EngineWorkerQueue:
        """Return a client that writes ``name`` as the host's name."""
        queue = EngineWorkerQueue((name, self.port), num_client=self.ranks, client_id=rank, role=role)
        self._stack.callback(queue.close)
        return queue

    def engine(self) -> EngineWorkerQueue:
        return self.client(0, "producer")

    def reader(self, rank: int) -> EngineWorkerQueue:
        return self.client(rank, "reader")

    def child(self, rank: int, role: Literal["reader", "producer"] = "reader") -> Child:
        child = Child({"variant": "ours", "port": self.port, "ranks": self.ranks, "rank": rank, "role": role})
        self._stack.callback(child.kill)
        return child
