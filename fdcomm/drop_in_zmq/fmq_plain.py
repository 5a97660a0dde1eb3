"""FastDeploy's later ``fmq``, which has no coroutines: ``get`` returns the payload, or None after a second.

As :mod:`fdcomm.drop_in_zmq.fmq` otherwise. ``fdcomm.drop_in.install(fmq="plain")`` takes it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Final

from fdcomm.drop_in_zmq.fmq import THRESHOLD, Descriptor, EndpointManager, Message, as_message, subscribe
from fdcomm.errors import CommTimeoutError
from fdcomm.mq import queue as mq_queue
from fdcomm.mq import topic as mq_topic
from fdcomm.mq.config import Config, Endpoint, EndpointType, Role, SocketOptions
from fdcomm.mq.fmq import FMQ as Handles

__all__ = (
    "FMQ",
    "Config",
    "Descriptor",
    "Endpoint",
    "EndpointManager",
    "EndpointType",
    "Message",
    "Queue",
    "Role",
    "SocketOptions",
    "Topic",
)

_GET_S: Final = 1.0


class Queue:
    """One end of a queue. A consumer's is used by one thread, the first that gets.

    Attributes:
        name: Its name.
        role: Producer or consumer.
    """

    def __init__(self, queue: mq_queue.Queue) -> None:
        self._queue = queue
        self.name = queue.name
        self.role = queue.role

    def put(self, data: object, shm_threshold: int = THRESHOLD) -> None:
        """Put a message. As :meth:`fdcomm.mq.Queue.put`."""
        self._queue.put(data, shm_threshold)

    def get(self) -> Any:
        """Return the payload of the next message; None: none came within a second.

        Raises:
            UndecodableError: A message could not be decoded. It alone is lost.
            WrongRoleError: This is a producer (a PermissionError).
            WrongThreadError: Another thread uses this consumer (a RuntimeError).
            ClosedError: It was closed.
        """
        try:
            payload = self._queue.get(_GET_S).payload
        except CommTimeoutError:
            return None
        self._queue.done()
        return payload

    def close(self) -> None:
        """Close: a producer waits for acknowledgements, 5 seconds at most. Idempotent."""
        self._queue.close()


class Topic:
    """One end of a topic.

    Attributes:
        name: Its name.
    """

    def __init__(self, topic: mq_topic.Topic) -> None:
        self._topic = topic
        self._published = False
        self.name = topic.name

    def pub(self, data: object) -> None:
        """Publish. The first call waits for a subscriber.

        Raises:
            CommTimeoutError: There was none for ``FDCOMM_TIMEOUT`` seconds (600). Nothing was published.
        """
        if not self._published:
            self._topic.wait_subscribers(1)
            self._published = True
        self._topic.pub(data)

    def sub(self, callback: Callable[[Message], Any]) -> None:
        """Call a function with each message, in a thread of the handle."""
        subscribe(self._topic, lambda message: callback(as_message(message)))

    def stop_sub(self) -> None:
        """End the subscription."""
        self._topic.stop_sub()

    def close(self) -> None:
        """Close. Idempotent."""
        self._topic.close()


class FMQ:
    """Queues and topics, closed together by :meth:`destroy`."""

    def __init__(self) -> None:
        self._handles = Handles(EndpointManager.config or EndpointManager.load_config())

    def queue(self, name: str, role: str | Role = "producer") -> Queue:
        """Open an end of a queue. As :meth:`fdcomm.mq.FMQ.queue`."""
        return Queue(self._handles.queue(name, role))

    def topic(self, name: str) -> Topic:
        """Open an end of a topic."""
        return Topic(self._handles.topic(name))

    def destroy(self) -> None:
        """Close everything. Idempotent."""
        self._handles.destroy()

    def __enter__(self) -> FMQ:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.destroy()
