"""The shipping host's transfer channel, loops and client on a controlled runtime; the model judges the runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm import EngineCacheQueue
from fdcomm.errors import FdcommError
from fdcomm.host.service import HostConfig
from fdcomm.host.transfer_channel import TransferChannel
from fdcomm.pause import PauseControl
from fdcomm.testing import ControlledRuntime
from fdcomm.transfer import TransferLoop, TransferTask
from fdcomm.transfer_port import TransferResult
from fdcomm.transfer_tasks import TransferTasks
from fdcomm.transports.inproc import InprocTransport
from models.dispatch_trace import accept
from tests.schedules.hosted import HandleBed
from tests.schedules.pause_testbed import World

__all__ = ("LoopBed", "TransferBed")


class TransferBed(HandleBed):
    """A host service, a client, and what it was told."""

    def __init__(self, runtime: ControlledRuntime, ranks: int, others: tuple[str, ...] = ()) -> None:
        super().__init__(runtime, HostConfig(ranks, kind="cache"), "transfer", accept, others)
        channel = self.service.channel("transfer")
        if not isinstance(channel, TransferChannel):
            raise TypeError(channel)
        self.core = channel._core
        self.ranks = ranks
        self.queues = [self.handle(rank) for rank in range(ranks)]
        self.tasks = TransferTasks(self.handle(0, "producer"))
        self.told: list[Any] = []
        self.did: list[Any] = []

    def handle(self, client_id: int, role: Any = None) -> EngineCacheQueue:
        """Open a handle."""
        return self._kept(
            EngineCacheQueue(
                num_client=self.ranks,
                client_id=client_id,
                role=role,
                transport=InprocTransport(self.service),
                runtime=self.runtime,
            )
        )

    def act(self, rank: int, action: str, *args: Any) -> Any:
        """One call of a rank's loop."""
        return self.queues[rank]._act("transfer", action, *args, name=action)

    def join(self) -> None:
        """Every rank is there, before anything begins."""
        for rank in range(self.ranks):
            self.act(rank, "next_task", 0.0)

    def serve(self, rank: int, ok: bool = True, limit: float | None = None) -> None:
        """Take part in one task: be ready for it, and report it."""
        while not self.is_told():
            if not self.act(rank, "next_task", 1.0):
                continue
            given = self.act(rank, "accept", limit)
            if given is not None:
                counted = self.act(
                    rank, "report", given[0], ok, self.queues[rank]._pickle(rank, "test") if ok else b"no"
                )
                self.did.append((rank, given[0], counted))
                return

    def is_told(self, count: int = 1) -> bool:
        """Return True when the client has so many results, or errors."""
        self.runtime.access("told", change=False)
        return len(self.told) >= count

    def tell(self, what: Any) -> None:
        """The client notes what it was told."""
        self.runtime.access("told", change=True)
        self.told.append(what)

    def result(self) -> TransferResult:
        """The client waits for a result."""
        found = self.tasks.result(None)
        assert found is not None
        self.tell((found.number, found.outcome, found.ranks))
        return found

    def told_or_lost(self) -> None:
        """The client waits for a result, or the end of the host."""
        try:
            self.result()
        except FdcommError as error:
            self.tell(type(error))

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        if self.runtime.idle():
            for task in self.core.started.values():
                assert self.core.awaited(task), f"{task} waits for nobody, and has not ended"


class LoopBed(TransferBed):
    """The same with pauses, and a loop for each rank, whose threads are tasks too."""

    def __init__(
        self,
        runtime: ControlledRuntime,
        ranks: int,
        handler: Callable[[int, TransferTask], Any],
        limit_s: float | None = None,
    ) -> None:
        super().__init__(runtime, ranks, ("pause",))
        self.world = World(runtime)
        self.api = PauseControl(self.tasks._queue)
        self.controls = [PauseControl(queue, rank=True) for queue in self.queues]

        def handlers(rank: int) -> dict[str, Callable[[TransferTask], Any]]:
            def work(task: TransferTask) -> Any:
                self.world.work()
                return handler(rank, task)

            return {"a": work, "b": work}

        self.loops = [
            TransferLoop(queue, control, handlers(rank), limit_s=limit_s)
            for rank, (queue, control) in enumerate(zip(self.queues, self.controls, strict=True))
        ]

    def run(self, rank: int, results: int) -> None:
        """Run the loop until the client has its results."""
        self.loops[rank].run(lambda: self.is_told(results))
        self.loops[rank].close(timeout=None)
        self.controls[rank].close()

    def close(self) -> None:
        for handle in self._handles:
            handle._transport = None  # nothing of it outlives the execution
