"""Clearing and restoring for asyncio: :class:`fdcomm.status.StatusCoordinator` in threads of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeVar

from fdcomm.aio.watched import end_of, told
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.handle import Handle
from fdcomm.status import Progress, StatusCoordinator, StatusResult
from fdcomm.status_constants import ModelWeightsStatus
from fdcomm.watched import period

__all__ = ("AsyncStatusCoordinator",)

_THREADS: Final = 8
T = TypeVar("T")


class AsyncStatusCoordinator:
    """The coordinator's calls as coroutines. A cancelled task cancels its request in the host.

    At most 8 calls are under way at a time; more wait for their turn, and :meth:`clear` and :meth:`update` are among
    them only until one of these is answered "busy".
    """

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open. Close with :meth:`aclose`."""
        self._coordinator = StatusCoordinator(queue)
        self._threads = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="fdcomm status")

    async def clear(
        self, *, timeout: Timeout = DEFAULT, progress: Progress | None = None, every: float = 1.0
    ) -> StatusResult:
        """As :meth:`StatusCoordinator.clear`. ``progress`` is called in the loop."""
        return await self._asked(partial(self._coordinator.clear, timeout=timeout), progress, every)

    async def update(
        self, *, timeout: Timeout = DEFAULT, progress: Progress | None = None, every: float = 1.0
    ) -> StatusResult:
        """As :meth:`StatusCoordinator.update`. ``progress`` is called in the loop."""
        return await self._asked(partial(self._coordinator.update, timeout=timeout), progress, every)

    async def words(self) -> dict[str, int]:
        """As :meth:`StatusCoordinator.words`."""
        return await self._in_thread(self._coordinator.words)

    async def statistics(self) -> dict[str, Any]:
        """As :meth:`StatusCoordinator.statistics`."""
        return await self._in_thread(self._coordinator.statistics)

    async def watch(self, seen: dict[str, Any] | None = None, *, timeout: Timeout = DEFAULT) -> dict[str, Any]:
        """As :meth:`StatusCoordinator.watch`. A cancelled task's call goes on in its thread until its time is over."""
        return await self._in_thread(partial(self._coordinator.watch, seen, timeout=timeout))

    async def wait_for(self, component: str, *words: int, timeout: Timeout = DEFAULT) -> ModelWeightsStatus:
        """As :meth:`StatusWord.wait_for`. Cancelling is as for :meth:`watch`."""
        return await self._in_thread(partial(self._coordinator.word(component).wait_for, *words, timeout=timeout))

    async def aclose(self) -> None:
        """Wait for the calls that are under way, and end the threads. The handle stays open."""
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)

    async def __aenter__(self) -> AsyncStatusCoordinator:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._threads.submit(call))

    async def _asked(self, call: Callable[[], StatusResult], progress: Progress | None, every: float) -> StatusResult:
        seconds = None if progress is None else period(every, "status")
        future = self._threads.submit(call)
        answer = asyncio.wrap_future(future)
        try:
            await told(answer, self.statistics, progress, seconds)
        except (Exception, asyncio.CancelledError):
            answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            if not future.cancel():
                self._threads.submit(end_of, future, self._coordinator.cancel)
            raise
        return answer.result()
