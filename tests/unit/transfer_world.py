"""A transfer client over a port in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fdcomm.blocks import BlockLists
from fdcomm.transfer_client import Swap, TransferClient
from tests.conformance.memory_port import MemoryPort

__all__ = ("LIMIT_S", "World", "world")

LIMIT_S = 30.0


class World:
    """Two blocks of each kind, a port in memory, and a client."""

    def __init__(self, control: Any = None, **port: Any) -> None:
        self.port = MemoryPort(**port)
        self.lists = BlockLists(2, 2)
        self.client = TransferClient(self.port, self.lists, control)

    def issue(self, **more: Any) -> Swap:
        """Issue a swap of a device block to a host block."""
        return self.client.issue("task", "swap", self.lists.allocate(), self.lists.allocate(1, "host"), **more)

    def free(self) -> tuple[int, int]:
        """Return how many blocks are free."""
        found = self.lists.statistics()
        return found.device_free, found.host_free

    def pull(self) -> int:
        """Let the ranks take the next task."""
        number = self.port.pull(LIMIT_S)
        assert number is not None
        return number


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.lists.check()
    made.client.close(timeout=LIMIT_S)
    assert not made.client._thread.is_alive()
