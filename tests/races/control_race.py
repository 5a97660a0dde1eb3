"""Scenarios of control requests: the shipped steps in one process, ours with a real host."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.control import ControlClient, ControlRequest, ControlServer
from tests.races.pipes import WATCHDOG_S
from tests.races.race import Race
from tests.races.shipped_control import ShippedEngine

__all__ = ("ControlOurs", "ControlRace")


class ControlOurs:
    """fdcomm, with a real host process; ``engine`` and ``ranks`` are handles of this process."""

    def __init__(self, ranks: int) -> None:
        self._stack = contextlib.ExitStack()
        server = EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=ranks)
        self.engine = self._stack.enter_context(server)
        self.client = ControlClient(server)
        self.ranks = []
        for rank in range(ranks):
            queue = EngineWorkerQueue(server.address, num_client=ranks, client_id=rank)
            self.ranks.append(self._stack.enter_context(queue))
        self.servers = [ControlServer(queue) for queue in self.ranks]

    def take(self, rank: int) -> ControlRequest:
        """Take the request that is asked now."""
        request = self.servers[rank].take(timeout=WATCHDOG_S)
        if request is None:
            raise TimeoutError(f"rank {rank} was asked nothing")
        return request

    def __enter__(self) -> ControlOurs:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


@dataclass(frozen=True)
class ControlRace(Race):
    """A race of control requests. ``abort`` ends what the shipped engine runs."""

    shipped: Callable[[Any], str]
    ours: Callable[[Any], str]
    abort: Callable[[], None] = lambda: None

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped steps."""
        return self.shipped(ShippedEngine(self.ranks, self.abort))

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with ControlOurs(self.ranks) as variant:
            return self.ours(variant)
