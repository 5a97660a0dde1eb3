"""A host of transfer tasks, its client, and the loops of two ranks in threads."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fdcomm import EngineCacheQueue, PauseControl, TransferLoop, TransferTask, TransferTasks
from fdcomm.transfer_port import TransferResult
from tests.conformance.waiting import Background, until

__all__ = ("LONG_S", "Group", "group")

LONG_S = 60.0


class Group:
    """A host, its client, and the loops of two ranks, each in a thread."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self.server = stack.enter_context(
            EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2, max_batch_bytes=1 << 16)
        )
        self.tasks = TransferTasks(self.server)
        self.pause = PauseControl(self.server)
        self.loops: dict[int, TransferLoop] = {}
        self.told: list[tuple[Any, ...]] = []
        self.over = threading.Event()
        stack.callback(self.over.set)

    def queue(self, rank: int, role: Any = None) -> EngineCacheQueue:
        """Open a handle."""
        return self._stack.enter_context(EngineCacheQueue(self.server.address, num_client=2, client_id=rank, role=role))

    def run(self, handler: Callable[[int, TransferTask], Any], **options: Any) -> list[Background]:
        """Run both loops until the test is over."""

        def body(rank: int) -> None:
            def progress(number: int, kind: str, stage: str) -> None:
                self.told.append((rank, number, kind, stage))

            with (
                EngineCacheQueue(self.server.address, num_client=2, client_id=rank) as queue,
                PauseControl(queue, rank=True) as control,
            ):
                handlers = dict.fromkeys(("a", "b"), lambda task: handler(rank, task))
                loop = self.loops[rank] = TransferLoop(queue, control, handlers, progress=progress, **options)
                with loop:
                    loop.run(self.over.is_set)

        running = [Background(lambda rank=rank: body(rank)) for rank in (0, 1)]  # type: ignore[misc]
        for thread in running:
            self._stack.callback(thread.error)
        self._stack.callback(self.over.set)
        until(lambda: self.tasks.statistics().live == (0, 1), "the loops")
        return running

    def result(self) -> TransferResult:
        """Return the next result."""
        found = self.tasks.result(LONG_S)
        assert found is not None
        return found


@pytest.fixture
def group() -> Iterator[Group]:
    with contextlib.ExitStack() as stack:
        yield Group(stack)
