"""The ways to the same queue: the service in this process, and a real host over AF_UNIX, TCP and ZeroMQ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.host.service import HostConfig, HostService, words_needed
from fdcomm.runtime import SYSTEM
from fdcomm.transports.inproc import InprocTransport

__all__ = ("LONG_S", "NAMES", "Queue", "lose", "opened", "take", "through")

LONG_S = 60.0
"""Time limit of calls that must succeed: a watchdog."""

NAMES = ("inproc", "unix", "tcp", "zmq")


def through(name: str) -> Any:
    """Return the argument ``transport`` of handles to a real host."""
    return name if name in ("tcp", "zmq") else "auto"


class Queue:
    """One queue, and handles to it that are closed at the end."""

    def __init__(self, name: str, ranks: int, dp: int, undo: ExitStack, **options: Any) -> None:
        self.name, self.ranks, self.dp = name, ranks, dp
        self._undo = undo
        self._service: HostService | None = None
        self._port = 0
        if name == "inproc":
            config = HostConfig(ranks, dp, **options)
            words = memoryview(bytearray(8 * words_needed(config))).cast("q")
            self._service = HostService(config, SYSTEM, words)
            undo.callback(self._service.shut_down)
            self.engine = self.client(0, role="producer")
        else:
            server = EngineWorkerQueue(
                ("0.0.0.0", 0),
                is_server=True,
                num_client=ranks,
                local_data_parallel_size=dp,
                transport=through(name),
                data_path="host",
                **options,
            )
            undo.callback(server.close)
            self._port = server.get_server_port()
            # The owner of a host with a door for other machines does not go through it.
            self.engine = self.client(0, role="producer") if name == "zmq" else server

    def client(self, client_id: int, role: Any = None, dp: int = 0) -> EngineWorkerQueue:
        """Open a client handle."""
        transport: Any = through(self.name)
        if self._service is not None:
            transport = InprocTransport(self._service)
        handle = EngineWorkerQueue(
            ("0.0.0.0", self._port),
            num_client=self.ranks,
            client_id=client_id,
            local_data_parallel_size=self.dp,
            local_data_parallel_id=dp,
            role=role,
            transport=transport,
        )
        self._undo.callback(handle.close)
        return handle

    def readers(self) -> list[EngineWorkerQueue]:
        """Open a reader for each rank."""
        return [self.client(rank, role="reader") for rank in range(self.ranks)]


@contextmanager
def opened(name: str, ranks: int = 2, dp: int = 1, **options: Any) -> Iterator[Queue]:
    """Open a queue over the transport of that name."""
    with ExitStack() as undo:
        yield Queue(name, ranks, dp, undo, **options)


def lose(handle: EngineWorkerQueue) -> None:
    """End a handle as the end of its process would: without a goodbye."""
    handle._release(goodbye=False)


def take(reader: EngineWorkerQueue, **options: Any) -> tuple[Any, bool]:
    """Get a batch that must be there."""
    batches, all_read = reader.get_tasks(**options)
    (batch,) = batches
    return batch, all_read
