"""FMQ for asyncio. What has to wait does so in a thread of the handle; what need not is done at once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import queue
import threading
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Literal, TypeVar

from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.errors import CommTimeoutError
from fdcomm.mq.config import Config, Delivery, Role
from fdcomm.mq.fmq import FMQ
from fdcomm.mq.frames import Message
from fdcomm.mq.queue import Queue
from fdcomm.mq.statistics import ConsumerStatistics, ProducerStatistics, TopicStatistics
from fdcomm.mq.topic import Topic
from fdcomm.runtime import SYSTEM

__all__ = ("AsyncFMQ", "AsyncQueue", "AsyncTopic")

T = TypeVar("T")


class _Waits:
    """A thread in which the handle's calls wait, one after the other, whichever event loop they come from.

    No executor's thread: the interpreter waits for those at its end, and a call may still be waiting then.
    """

    def __init__(self, name: str) -> None:
        self._name = f"fdcomm mq {name}"
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._started = False
        self._ended = False
        self._lock = threading.Lock()

    async def run(self, call: Callable[[], T]) -> T:
        """Call it there. A cancelled task's call goes on until its time is over."""
        return await asyncio.wrap_future(self.submit(call))

    def submit(self, call: Callable[..., T], *args: object) -> concurrent.futures.Future[T]:
        """Call it there, whether anybody waits for it or not."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call(*args))
                except BaseException as error:  # noqa: BLE001  (who waits for the future gets it)
                    future.set_exception(error)

        with self._lock:
            if self._ended:
                work()  # its handle is closed, and says so
                return future
            if not self._started:
                self._started = True
                SYSTEM.spawn(self._work, self._name)
            self._calls.put(work)
        return future

    def end(self) -> None:
        """End the thread when what it does is done. Idempotent."""
        with self._lock:
            if not self._ended:
                self._ended = True
                self._calls.put(None)

    def _work(self) -> None:
        while (work := self._calls.get()) is not None:
            work()
            del work  # with what its call has returned


def _copied(future: concurrent.futures.Future[T]) -> concurrent.futures.Future[T]:
    """Return a future that ends with this one, and can be cancelled without it."""
    copy: concurrent.futures.Future[T] = concurrent.futures.Future()

    def ended(future: concurrent.futures.Future[T]) -> None:
        if copy.set_running_or_notify_cancel():
            copy.set_result(None)  # type: ignore[arg-type]

    future.add_done_callback(ended)
    return copy


class AsyncQueue:
    """A queue's calls as coroutines. It may be used from one event loop after the other.

    A task that is cancelled in :meth:`get` loses nothing: the message that its call takes is the next one's.
    """

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self._waits = _Waits(queue.name)
        self._getting: concurrent.futures.Future[Message] | None = None

    async def put(self, data: object, shm_threshold: int | None = None, *, timeout: Timeout = DEFAULT) -> int:
        """As :meth:`fdcomm.mq.Queue.put`."""
        try:
            return self.queue.put(data, shm_threshold, timeout=0.0)
        except CommTimeoutError:
            return await self._waits.run(partial(self.queue.put, data, shm_threshold, timeout=timeout))

    async def flush(self, timeout: Timeout = DEFAULT) -> None:
        """As :meth:`fdcomm.mq.Queue.flush`."""
        await self._waits.run(partial(self.queue.flush, timeout))

    async def get(self, timeout: Timeout = DEFAULT) -> Message:
        """As :meth:`fdcomm.mq.Queue.get`. One at a time."""
        future = self._getting
        if future is None:
            future = self._getting = self._waits.submit(self._take, timeout)
        await asyncio.wait([asyncio.wrap_future(_copied(future))])
        self._getting = None
        return future.result()

    def _take(self, timeout: Timeout) -> Message:
        return self.queue.get(timeout)

    async def done(self) -> None:
        """As :meth:`fdcomm.mq.Queue.done`."""
        await self._waits.run(self.queue.done)

    def statistics(self) -> ProducerStatistics | ConsumerStatistics:
        """As :meth:`fdcomm.mq.Queue.statistics`."""
        return self.queue.statistics()

    async def close(self, linger: float | None = None, *, done: bool = True) -> int:
        """As :meth:`fdcomm.mq.Queue.close`. A call that waits ends with ClosedError."""
        loop = asyncio.get_running_loop()
        left = await loop.run_in_executor(None, partial(self.queue.close, linger, done=done))
        self._waits.end()
        return left

    async def __aenter__(self) -> AsyncQueue:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close(done=kind is None)


class AsyncTopic:
    """A topic's calls as coroutines."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self._waits = _Waits(topic.name)

    async def bind(self) -> None:
        """As :meth:`fdcomm.mq.Topic.bind`."""
        await self._waits.run(self.topic.bind)

    async def pub(self, data: object, *, timeout: Timeout = DEFAULT) -> bool:
        """As :meth:`fdcomm.mq.Topic.pub`."""
        return await self._waits.run(partial(self.topic.pub, data, timeout=timeout))

    async def wait_subscribers(self, count: int = 1, timeout: Timeout = DEFAULT) -> None:
        """As :meth:`fdcomm.mq.Topic.wait_subscribers`."""
        await self._waits.run(partial(self.topic.wait_subscribers, count, timeout))

    async def sub(self, callback: Callable[[Message], Any] | None = None, *, timeout: Timeout = DEFAULT) -> None:
        """As :meth:`fdcomm.mq.Topic.sub`. The callback may be a coroutine function; it is called in this loop."""
        await self._waits.run(partial(self.topic.sub, callback and self.in_loop(callback), timeout=timeout))

    def in_loop(self, callback: Callable[[Message], Any]) -> Callable[[Message], None]:
        """Return what calls it, or the coroutine function, in this loop and waits for it."""
        loop = asyncio.get_running_loop()

        async def call(message: Message) -> None:
            result = callback(message)
            if inspect.isawaitable(result):
                await result

        def called(message: Message) -> None:
            asyncio.run_coroutine_threadsafe(call(message), loop).result()

        return called

    async def get(self, timeout: Timeout = DEFAULT) -> Message:
        """As :meth:`fdcomm.mq.Topic.get`."""
        return await self._waits.run(partial(self.topic.get, timeout))

    def statistics(self) -> TopicStatistics:
        """As :meth:`fdcomm.mq.Topic.statistics`."""
        return self.topic.statistics()

    async def close(self) -> None:
        """As :meth:`fdcomm.mq.Topic.close`."""
        await asyncio.get_running_loop().run_in_executor(None, self.topic.close)
        self._waits.end()

    async def __aenter__(self) -> AsyncTopic:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncFMQ:
    """FMQ for asyncio. Use it in an ``async with`` block, or call :meth:`destroy`."""

    def __init__(self, config: Config | None = None) -> None:
        """As :class:`fdcomm.mq.FMQ`."""
        self.fmq = FMQ(config)

    def queue(self, name: str, role: str | Role = "producer", *, delivery: Delivery = "acknowledged") -> AsyncQueue:
        """As :meth:`fdcomm.mq.FMQ.queue`."""
        return AsyncQueue(self.fmq.queue(name, role, delivery=delivery))

    def topic(self, name: str, *, when_full: Literal["wait", "drop"] = "wait") -> AsyncTopic:
        """As :meth:`fdcomm.mq.FMQ.topic`."""
        return AsyncTopic(self.fmq.topic(name, when_full=when_full))

    async def destroy(self) -> int:
        """As :meth:`fdcomm.mq.FMQ.destroy`."""
        return await asyncio.get_running_loop().run_in_executor(None, self.fmq.destroy)

    async def __aenter__(self) -> AsyncFMQ:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.destroy()
