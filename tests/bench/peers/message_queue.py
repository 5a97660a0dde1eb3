"""What the queues of vLLM and SGLang have in common: one class MessageQueue, used the same way."""

from __future__ import annotations

import os
import pickle
from typing import Any

from tests.bench.path.subject import Batch, Get, Subject

__all__ = ("MessageQueueSubject",)


class MessageQueueSubject(Subject):
    """A writer makes a MessageQueue for ``ranks`` local readers and exports its handle; readers open that.

    Readers and writer wait for a slot by looking and yielding, without a pause, as shipped. torch is imported before
    the readers are forked: in an engine's worker it is there anyway, so it does not count as memory of the queue.
    """

    _queue: Any = None
    _module: Any
    """The file of the queue; :meth:`load` imports it."""

    def start(self, ranks: int, largest: int) -> None:
        super().start(ranks, largest)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy comes with torch: no thread before the fork
        import torch  # type: ignore[import-not-found, unused-ignore]  # noqa: F401

    def _made(self) -> Any:
        """Return the writer's queue, of the size that the engine makes it."""
        raise NotImplementedError

    def _opened(self, handle: Any, rank: int) -> Any:
        """Return a reader's queue."""
        return self._module.MessageQueue.create_from_handle(handle, rank)

    def _take(self) -> Get:
        """Return what a reader's process calls for the next batch."""
        get: Get = self._queue.dequeue
        return get

    def open_writer(self) -> bytes:
        self._queue = self._made()
        self.put = self._queue.enqueue  # type: ignore[method-assign]  # no frame in between
        return pickle.dumps(self._queue.export_handle())  # a reader unpickles it only after it has loaded the module

    def open_reader(self, rank: int, orders: Any) -> Get:
        self._queue = self._opened(pickle.loads(orders), rank)
        take, meetings = self._take(), [self._queue.wait_until_ready]

        def get() -> Batch:
            if meetings:  # with the writer's, in settle: it begins only when all readers have been opened
                meetings.pop()()
            return take()

        return get

    def settle(self) -> None:
        self._queue.wait_until_ready()

    def close(self) -> None:
        if (queue := self._queue) is None:
            return
        self.__dict__.pop("put", None)
        self._queue = None
        context = queue.local_socket.context
        queue.local_socket.close(0)
        self._let_go(queue)
        context.term()
        # The last reference: its __del__ closes the shared memory, and the writer's unlinks it.

    def _let_go(self, queue: Any) -> None:
        """Close the other sockets of a queue."""
