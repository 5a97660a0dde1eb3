"""FastDeploy's ``fmq`` as its workers and its engine call it: coroutines, milliseconds, None when nothing came.

The queues are :mod:`fdcomm.mq`'s. A message counts as done when ``get`` returns it, because FastDeploy's callers cannot
say it otherwise; so what a killed consumer had and was not done with is not delivered again. Who wants that uses
:class:`fdcomm.aio.AsyncFMQ`.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from fdcomm.aio.mq import AsyncQueue, AsyncTopic
from fdcomm.deadline import Timeout
from fdcomm.errors import CommTimeoutError, FdcommError
from fdcomm.mq import frames
from fdcomm.mq import topic as mq_topic
from fdcomm.mq.config import Config, Endpoint, EndpointType, Role, SocketOptions, load_config
from fdcomm.mq.fmq import FMQ as Handles
from fdcomm.runtime import SYSTEM

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
    "as_message",
    "subscribe",
)

THRESHOLD: Final = 1024 * 1024
_FIRST_PUB_S: Final = 0.25
_SUB_S: Final = 1.0

_log = logging.getLogger("fdcomm.mq")


@dataclass(frozen=True)
class Descriptor:
    """Says that a payload came through shared memory. Its receiver has it already, and has nothing to remove.

    Attributes:
        shm_name: What identifies it.
        size: Its bytes.
    """

    shm_name: str
    size: int


@dataclass(frozen=True)
class Message:
    """A message as ``get`` returns it.

    Attributes:
        payload: What was put.
        msg_id: What identifies the message.
        timestamp: When it was put: seconds of the producer's wall clock.
        descriptor: None, if it came through the socket.
    """

    payload: Any
    msg_id: str
    timestamp: float
    descriptor: Descriptor | None = None


def as_message(message: frames.Message) -> Message:
    """Return a message of fdcomm in FastDeploy's form."""
    descriptor = Descriptor(f"fmq_shm_{message.msg_id}", message.nbytes) if message.nbytes else None
    return Message(message.payload, message.msg_id, message.timestamp, descriptor)


def subscribe(topic: mq_topic.Topic, callback: Callable[[frames.Message], Any]) -> None:
    """Subscribe in a thread of its own, which waits for a publisher for as long as the topic is open."""

    def begin() -> None:
        while not topic.closed:
            try:
                topic.sub(callback, timeout=_SUB_S)
                return
            except CommTimeoutError:
                continue  # there is no publisher yet
            except FdcommError as error:
                _log.error("sub: %s", error)
                return

    SYSTEM.spawn(begin, f"TopicSub-{topic.name}")


class EndpointManager:
    """Where queues and topics are.

    Attributes:
        config: As ``FMQ_CONFIG_JSON`` says; None before the first use.
    """

    config: ClassVar[Config | None] = None

    @classmethod
    def load_config(cls) -> Config:
        """Read ``FMQ_CONFIG_JSON`` again. Raises ConfigError: it is not understood, and what was read before stays."""
        cls.config = load_config()
        return cls.config

    @classmethod
    def get_endpoint(cls, name: str) -> Endpoint:
        """Return where a queue or a topic is."""
        return (cls.config or cls.load_config()).endpoint(name)


class _Taking(AsyncQueue):
    """A queue whose messages are done when they are taken."""

    def _take(self, timeout: Timeout) -> frames.Message:
        message = self.queue.get(timeout)
        self.queue.done()
        return message


class Queue:
    """One end of a queue.

    Attributes:
        name: Its name.
        role: Producer or consumer.
    """

    def __init__(self, queue: _Taking) -> None:
        self._queue = queue
        self.name = queue.queue.name
        self.role = queue.queue.role

    async def put(self, data: object, shm_threshold: int = THRESHOLD) -> None:
        """Put a message. What is that large goes through shared memory, of any type.

        It does not wait for a consumer, but for room: 1,024 messages may be under way.

        Raises:
            WrongRoleError: This is a consumer (a PermissionError).
            CommTimeoutError: There was no room for ``FDCOMM_TIMEOUT`` seconds (600).
        """
        await self._queue.put(data, shm_threshold)

    async def get(self, timeout: int | None = None) -> Message | None:
        """Return the next message; None: none came.

        Args:
            timeout: Milliseconds; None and 0 wait until one comes.

        Raises:
            WrongRoleError: This is a producer (a PermissionError).
            UndecodableError: A message could not be decoded. It alone is lost.
        """
        try:
            return as_message(await self._queue.get(timeout / 1000 if timeout else None))
        except CommTimeoutError as error:
            _log.debug("%s", error)
            return None

    async def close(self) -> None:
        """Close: a producer waits for acknowledgements, 5 seconds at most. Idempotent."""
        await self._queue.close()


class Topic:
    """One end of a topic.

    ``sub`` returns at once, so what is published before the subscription is in force is not received. The first ``pub``
    gives subscribers that wait a quarter of a second; :meth:`fdcomm.mq.Topic.sub` waits for the publisher instead.

    Attributes:
        name: Its name.
    """

    def __init__(self, topic: AsyncTopic) -> None:
        self._topic = topic
        self._published = False
        self.name = topic.topic.name

    async def pub(self, data: object) -> None:
        """Publish."""
        if not self._published:
            self._published = True
            try:
                await self._topic.wait_subscribers(1, _FIRST_PUB_S)
            except CommTimeoutError:
                _log.info("topic %r: nobody subscribes yet", self.name)
        await self._topic.pub(data)

    async def sub(self, callback: Callable[[Message], Any]) -> None:
        """Call a function, or a coroutine function in this loop, with each message."""
        subscribe(self._topic.topic, self._topic.in_loop(lambda message: callback(as_message(message))))

    async def close(self) -> None:
        """Close. Idempotent."""
        await self._topic.close()


class FMQ:
    """The queues and topics of this process: every call returns the same object, until :meth:`destroy`."""

    _of_process: ClassVar[tuple[int, FMQ] | None] = None
    _handles: Handles

    def __new__(cls) -> FMQ:
        """Return the one of this process; after a fork the child has its own."""
        if FMQ._of_process is None or FMQ._of_process[0] != os.getpid():
            made = super().__new__(cls)
            made._handles = Handles(EndpointManager.config or EndpointManager.load_config())
            FMQ._of_process = os.getpid(), made
        return FMQ._of_process[1]

    def queue(self, name: str, role: str | Role = "producer") -> Queue:
        """Open an end of a queue.

        Raises:
            AddressInUseError: The role is "consumer", and the queue has a live one.
            ConfigError: There is no such role (a ValueError).
        """
        return Queue(_Taking(self._handles.queue(name, role)))

    def topic(self, name: str) -> Topic:
        """Open an end of a topic."""
        return Topic(AsyncTopic(self._handles.topic(name)))

    async def destroy(self) -> None:
        """Close everything. The next ``FMQ()`` is a new one."""
        if FMQ._of_process is not None and FMQ._of_process[1] is self:
            FMQ._of_process = None
        await asyncio.get_running_loop().run_in_executor(None, self._handles.destroy)
