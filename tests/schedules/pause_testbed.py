"""The shipping pause protocol, ranks and host, on a controlled runtime; and the checks that every program shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fdcomm import EngineCacheQueue
from fdcomm.host.service import HostConfig
from fdcomm.pause import PauseControl
from fdcomm.testing import ControlledRuntime, Scenario
from fdcomm.transports.inproc import InprocTransport
from models.dispatch_trace import accept
from tests.schedules.hosted import HostBed

__all__ = ("PauseBed", "World")


class World:
    """What jobs and pauses do to what they share: no job may work while somebody relies on a pause."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self._runtime = runtime
        self.working = 0
        self.relying = 0
        self.worked = 0

    def work(self) -> None:
        """A job does its work."""
        self._change(working=1)
        self._change(working=-1)
        self.worked += 1

    def rely(self) -> None:
        """Somebody does what must not overlap a job."""
        self._change(relying=1)
        self._change(relying=-1)

    def _change(self, *, working: int = 0, relying: int = 0) -> None:
        self._runtime.access("world", change=True)
        self.working += working
        self.relying += relying
        assert not (self.working and self.relying), "a task runs in a pause"


class PauseBed(HostBed):
    """A host service with its pause channel, and a control for each rank, whose threads are tasks too."""

    def __init__(self, runtime: ControlledRuntime, ranks: int = 1) -> None:
        super().__init__(runtime, HostConfig(ranks, kind="cache"), "pause", accept)
        self.world = World(runtime)
        self.ranks = ranks
        self.queues = [self._queue(rank) for rank in range(ranks)]
        self.controls = [PauseControl(queue, rank=True) for queue in self.queues]
        self.api = PauseControl(self._queue(0, "producer"))
        self._end = runtime.condition()
        self._left = 0

    def _queue(self, rank: int, role: Any = None) -> EngineCacheQueue:
        return EngineCacheQueue(
            num_client=self.ranks,
            client_id=rank,
            role=role,
            transport=InprocTransport(self.service),
            runtime=self.runtime,
        )

    def job(self, rank: int = 0, timeout: float | None = None) -> None:
        """Admit a job, and let it work."""
        with self.controls[rank].admit(timeout=timeout):
            self.world.work()

    def scenario(self, tasks: Mapping[str, Callable[[], None]], final: Callable[[], None] | None = None) -> Scenario:
        """Return the scenario of these tasks. The last of them closes the controls, so that their threads end."""
        self._left = len(tasks)

        def ending(task: Callable[[], None]) -> Callable[[], None]:
            def run() -> None:
                task()
                with self._end:
                    self._left -= 1
                    last = self._left == 0
                if last:
                    for control in self.controls:
                        control.close()

            return run

        def at_the_end() -> None:
            assert [control.inflight for control in self.controls] == [0] * self.ranks, "a job is still counted"
            if final is not None:
                final()
            self.judge()

        def close() -> None:
            for queue in (*self.queues, self.api._queue):
                queue._transport = None  # nothing of it outlives the execution

        return Scenario({name: ending(task) for name, task in tasks.items()}, final=at_the_end, close=close)
