"""Races of queues: a real consumer on a path of its own, the shipped one and ours."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fdcomm.mq import Config, Queue, SocketOptions
from tests.races.race import Race
from tests.races.shipped_fmq import ShippedQueue

__all__ = ("FmqOurs", "FmqRace", "FmqShipped")


class FmqShipped:
    """Opens shipped consumers of one path."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-mq-", dir="/tmp")
        self.path = f"{self._folder.name}/queue.ipc"
        self._open: list[ShippedQueue] = []

    def consumer(self) -> ShippedQueue:
        """Open one."""
        self._open.append(ShippedQueue(self.path))
        return self._open[-1]

    def __enter__(self) -> FmqShipped:
        return self

    def __exit__(self, *exc: object) -> None:
        for queue in self._open:
            queue.close()
        self._folder.cleanup()


class FmqOurs:
    """Opens ends of one queue of ours."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-mq-", dir="/tmp")
        self.root = self._folder.name
        self._open: list[Queue] = []

    def queue(self, role: str = "producer", linger_ms: int = 5000, **options: Any) -> Queue:
        """Open an end."""
        config = Config(ipc_root=self.root, socket_config=SocketOptions(linger=linger_ms), **options)
        self._open.append(Queue("race", role, config))
        return self._open[-1]

    def __enter__(self) -> FmqOurs:
        return self

    def __exit__(self, *exc: object) -> None:
        for queue in self._open:
            queue.close(0.0)
        self._folder.cleanup()


@dataclass(frozen=True)
class FmqRace(Race):
    """A race of queues."""

    shipped: Callable[[Any], str]
    ours: Callable[[Any], str]
    ranks: int = field(default=1)

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped queue."""
        with FmqShipped() as variant:
            return self.shipped(variant)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with FmqOurs() as variant:
            return self.ours(variant)
