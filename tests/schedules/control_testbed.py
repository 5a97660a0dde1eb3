"""The shipping host's control channel and its public classes on a controlled runtime; the model judges the runs."""

from __future__ import annotations

from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.control import ControlClient, ControlServer
from fdcomm.errors import FdcommError, StaleAnswerError
from fdcomm.host.control_channel import ControlChannel
from fdcomm.host.service import HostConfig
from fdcomm.testing import ControlledRuntime
from fdcomm.transports.inproc import InprocTransport
from models.dispatch_trace import accept
from tests.schedules.hosted import HandleBed

__all__ = ("ControlBed",)


class ControlBed(HandleBed):
    """A host service, handles over it, and what their calls were told."""

    def __init__(self, runtime: ControlledRuntime, ranks: int) -> None:
        self.ranks = ranks
        super().__init__(runtime, HostConfig(ranks), "control", accept)
        channel = self.service.channel("control")
        if not isinstance(channel, ControlChannel):
            raise TypeError(channel)
        self.core = channel._core
        self.told: list[Any] = []
        self.done: dict[int, list[Any]] = {rank: [] for rank in range(ranks)}

    def handle(self, client_id: int) -> EngineWorkerQueue:
        """Open a handle."""
        return self._kept(
            EngineWorkerQueue(
                num_client=self.ranks,
                client_id=max(client_id, 0),
                role="producer" if client_id < 0 else None,
                transport=InprocTransport(self.service),
                runtime=self.runtime,
            )
        )

    def ask(self, client: ControlClient, what: object, timeout: float | None = None) -> None:
        """Ask, and note the answers in rank order, or the error."""
        try:
            result = client.ask(what, timeout=timeout)
        except FdcommError as error:
            told: Any = (what, type(error), error.missing)
        else:
            assert [answer.rank for answer in result.answers] == list(range(self.ranks))
            told = (what, [answer.value for answer in result.answers])
        self.runtime.access("told", change=True)
        self.told.append(told)

    def has_told(self, count: int = 1) -> bool:
        """Return True when so many calls have ended."""
        self.runtime.access("told", change=False)
        return len(self.told) >= count

    def serve_until_told(self, rank: int, queue: EngineWorkerQueue) -> None:
        """Serve at most one request; give up when the asking call has ended."""
        while not self.done[rank] and not self.has_told():
            self.serve(rank, queue, timeout=1.0)
            if self.done[rank] == [None]:
                self.done[rank].clear()

    def serve(self, rank: int, queue: EngineWorkerQueue, count: int = 1, timeout: float | None = None) -> None:
        """Take so many requests, and answer each with its payload; note what became of each."""
        server = ControlServer(queue)
        for _ in range(count):
            request = server.take(timeout=timeout)
            if request is None:
                self.done[rank].append(None)
                continue
            try:
                request.answer((rank, request.payload))
            except StaleAnswerError:
                self.done[rank].append((request.payload, "late"))
            else:
                self.done[rank].append((request.payload, "answered"))

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        if not self.runtime.idle():
            return
        core = self.core
        for request in core.open.values():
            assert not set(request.answers) & request.without, f"{request} has an answer of a rank that is without"
        assert all(doing in (0, served) for doing, served in zip(core.doing, core.served, strict=True))
