"""FMQ: the handles of a process on its queues and topics, closed together."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Literal

from fdcomm.errors import ClosedError
from fdcomm.mq.config import Config, Delivery, Role, load_config
from fdcomm.mq.queue import Queue
from fdcomm.mq.topic import Topic

__all__ = ("FMQ",)


class FMQ:
    """Opens queues and topics, and closes what it has opened. Use it in a ``with`` block, or call :meth:`destroy`.

    Attributes:
        config: What it was told.
    """

    def __init__(self, config: Config | None = None) -> None:
        """Args:
        config: None takes ``FMQ_CONFIG_JSON``, or the defaults.

        Raises:
            ConfigError: ``FMQ_CONFIG_JSON`` is not understood.
        """
        self.config = load_config() if config is None else config
        self._lock = threading.Lock()
        self._open: list[Queue | Topic] = []
        self._destroyed = False

    def queue(self, name: str, role: str | Role = "producer", *, delivery: Delivery = "acknowledged") -> Queue:
        """Open an end of a queue. As :class:`fdcomm.mq.Queue`."""
        with self._lock:
            self._require("queue")
            made = Queue(name, role, self.config, delivery=delivery)
            self._keep(made)
            return made

    def topic(self, name: str, *, when_full: Literal["wait", "drop"] = "wait") -> Topic:
        """Open an end of a topic. As :class:`fdcomm.mq.Topic`."""
        with self._lock:
            self._require("topic")
            made = Topic(name, self.config, when_full=when_full)
            self._keep(made)
            return made

    def destroy(self) -> int:
        """Close everything, within the linger. Idempotent.

        Returns:
            How many messages are not acknowledged.
        """
        with self._lock:
            self._destroyed = True
            handles, self._open = self._open, []
        lingers = threading.Semaphore(0)
        left: list[int] = []

        def end(queue: Queue) -> None:
            left.append(queue.close())
            lingers.release()

        producers = [handle for handle in handles if isinstance(handle, Queue) and handle.role is Role.PRODUCER]
        for handle in handles:
            if handle not in producers:
                handle.close()  # a consumer acknowledges what it was given: nobody has to wait for that
        # The producers' lingers run side by side, so all together end within one.
        for queue in producers:
            threading.Thread(target=end, args=(queue,), daemon=True, name=f"fdcomm-mq-end-{queue.name}").start()
        for _ in producers:
            lingers.acquire()
        return sum(left)

    def _keep(self, made: Queue | Topic) -> None:
        self._open = [*(handle for handle in self._open if not handle.closed), made]

    def _require(self, operation: str) -> None:
        if self._destroyed:
            raise ClosedError(f"{operation}: this FMQ was destroyed; make a new one", operation=operation)

    def __enter__(self) -> FMQ:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.destroy()
