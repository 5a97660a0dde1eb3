"""What asyncio's forms of a handle's calls have in common: the threads in which they wait."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final, TypeVar

from fdcomm.aio.watched import end_of, to_the_end, told

__all__ = ("InThreads",)

T = TypeVar("T")
_Self = TypeVar("_Self", bound="InThreads")
_QUICK: Final = 2


class InThreads:
    """Base of what has coroutines for blocking calls.

    Args:
        name: Of the threads.
        calls: How many calls are under way at a time; more wait for their turn.
    """

    def __init__(self, name: str, calls: int) -> None:
        self._threads = concurrent.futures.ThreadPoolExecutor(calls, thread_name_prefix=f"fdcomm {name}")
        # For what never waits long, and for what ends what waits: neither must queue behind that.
        self._quick = concurrent.futures.ThreadPoolExecutor(_QUICK, thread_name_prefix=f"fdcomm {name} quick")

    async def aclose(self) -> None:
        """Wait for the calls that are under way, and end their threads. What they call stays open."""
        for threads in (self._threads, self._quick):
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)

    async def __aenter__(self: _Self) -> _Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _in_thread(self, call: Callable[[], T]) -> asyncio.Future[T]:
        """Begin a call that may wait. When its ``await`` is cancelled it goes on, unless its turn has not come."""
        return asyncio.wrap_future(self._threads.submit(call))

    def _at_once(self, call: Callable[[], T]) -> asyncio.Future[T]:
        """Begin a call that does not wait long."""
        return asyncio.wrap_future(self._quick.submit(call))

    async def _tell(self, call: Callable[[], T]) -> T:
        """Do a call that does not wait long to its end, also when this is cancelled, or was closed; then raise that."""
        try:
            future = self._at_once(call)
        except RuntimeError:  # closed: there is no thread left
            return call()
        return await to_the_end(future)

    async def _ended(
        self,
        call: Callable[[], T],
        end: Callable[[], object],
        look: Callable[[], Awaitable[Any]],
        progress: Callable[[Any], object] | None = None,
        every: float | None = None,
    ) -> T:
        """Do a call that may wait; when this is cancelled, or ``progress`` raises, have it ended behind our back.

        Args:
            call: What may wait.
            end: Ends it. Repeated until it has ended.
            look: What ``progress`` is given.
            progress: Called in the loop while the call waits.
            every: Seconds between two calls of it.
        """
        future = self._threads.submit(call)
        answer = asyncio.wrap_future(future)
        try:
            await told(answer, look, progress, every)
        except (Exception, asyncio.CancelledError):
            answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            if not future.cancel():
                self._quick.submit(end_of, future, end)
            raise
        return answer.result()
