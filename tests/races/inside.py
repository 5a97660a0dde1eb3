"""Our host's service in this process, to look at it in the middle of a critical section."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fdcomm import EngineWorkerQueue
from fdcomm.host.service import Hello, HostConfig, HostService, Welcome, words_needed
from fdcomm.runtime import SystemRuntime, Words
from fdcomm.transports.inproc import InprocTransport

__all__ = ("Inside",)


class _WatchedRuntime(SystemRuntime):
    """Calls ``before_store(word, value)`` before each store of a shared word, inside the critical section.

    ``put_arrived`` is set when a put call is about to ask for the critical section.
    """

    def __init__(self) -> None:
        self.before_store: Callable[[int, int], None] = lambda word, value: None
        self.put_arrived = threading.Event()

    def point(self, name: str) -> None:
        if name == "PutTasks.enter":
            self.put_arrived.set()

    def store(self, words: Words, index: int, value: int) -> None:
        self.before_store(index, value)
        super().store(words, index, value)


class _NamedTransport(InprocTransport):
    session = 0

    def open_session(self, hello: Hello) -> Welcome:
        welcome = super().open_session(hello)
        self.session = welcome["session"]
        return welcome


class Inside:
    """A service for some ranks, with handles in this process."""

    def __init__(self, ranks: int = 2) -> None:
        self.ranks = ranks
        self.runtime = _WatchedRuntime()
        self.words = memoryview(bytearray(8 * words_needed(HostConfig(ranks)))).cast("q")
        self.service = HostService(HostConfig(ranks), self.runtime, self.words)
        self._sessions: dict[EngineWorkerQueue, int] = {}

    def client(self, rank: int, role: str) -> EngineWorkerQueue:
        """Return a handle."""
        transport = _NamedTransport(self.service)
        queue = EngineWorkerQueue(
            num_client=self.ranks,
            client_id=rank,
            role="reader" if role == "reader" else "producer",
            transport=transport,
        )
        self._sessions[queue] = transport.session
        return queue

    def lose(self, queue: EngineWorkerQueue) -> None:
        """The host loses the handle's connection, while its process goes on."""
        self.service.lose_session(self._sessions[queue])

    def close(self) -> None:
        """Close every handle."""
        for queue in self._sessions:
            queue.close()
