"""Control requests for asyncio: :class:`fdcomm.control.ControlClient` in threads of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Final

from fdcomm.aio.watched import end_of, told
from fdcomm.control import ControlClient, ControlResult, ControlStatistics
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.handle import Handle
from fdcomm.watched import period

__all__ = ("AsyncControlClient",)

_THREADS: Final = 8


class AsyncControlClient:
    """The client's calls as coroutines. A cancelled task withdraws its own request, and no other.

    At most 8 calls are under way at a time; more wait for their turn.
    """

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open. Close with :meth:`aclose`."""
        self._client = ControlClient(queue)
        self._tokens = itertools.count(1)
        self._threads = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="fdcomm control")
        # Threads of their own: when all others ask, a look or a cancel must not wait for one of them.
        self._looks = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="fdcomm control look")
        self._cancels = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="fdcomm control cancel")

    async def ask(
        self,
        request: Any,
        *,
        timeout: Timeout = DEFAULT,
        allow_partial: bool = False,
        progress: Callable[[ControlStatistics], object] | None = None,
        every: float = 1.0,
    ) -> ControlResult:
        """As :meth:`ControlClient.ask`; ``allow_partial`` is its ``partial``. ``progress`` is called in the loop."""
        seconds = None if progress is None else period(every, "control.ask")
        token = next(self._tokens)
        call = partial(self._client.ask, request, timeout=timeout, partial=allow_partial, token=token)
        future = self._threads.submit(call)
        answer = asyncio.wrap_future(future)
        try:
            await told(answer, self.statistics, progress, seconds)
        except (Exception, asyncio.CancelledError):
            answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            if not future.cancel():
                self._cancels.submit(end_of, future, partial(self._client.cancel, token))
            raise
        return answer.result()

    async def statistics(self) -> ControlStatistics:
        """As :meth:`ControlClient.statistics`."""
        return await asyncio.wrap_future(self._looks.submit(self._client.statistics))

    async def aclose(self) -> None:
        """Wait for the calls that are under way, and end the threads. The handle stays open."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._threads.shutdown)
        await loop.run_in_executor(None, self._cancels.shutdown)
        await loop.run_in_executor(None, self._looks.shutdown)

    async def __aenter__(self) -> AsyncControlClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
