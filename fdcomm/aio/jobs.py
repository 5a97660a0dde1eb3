"""Jobs of a rank whose engine runs in an asyncio loop: nothing here takes a thread while it waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import CommTimeoutError
from fdcomm.jobs import Job, RankJobs
from fdcomm.watched import period

__all__ = ("Admission", "AsyncJob", "until")

T = TypeVar("T")
Look = Callable[[], Awaitable[object]]


class AsyncJob:
    """A job that was admitted. Use it in ``async with`` around the job's work, or call :meth:`done` once."""

    def __init__(
        self, jobs: RankJobs, job: Job, tell: Callable[[Callable[[], None]], Coroutine[Any, Any, None]]
    ) -> None:
        """Made by :meth:`AsyncPauseControl.admit`."""
        self._jobs = jobs
        self._job = job
        self._tell = tell

    @property
    def cancelled(self) -> bool:
        """As :attr:`Job.cancelled`."""
        return self._job.cancelled

    async def done(self) -> None:
        """As :meth:`Job.done`. The job counts no more from the call on; a cancelled ``await`` changes nothing in that.

        The host is told before this returns, if a pause is under way.
        """
        tell = self._jobs.finish(self._job)
        if tell is not None:
            await self._tell(tell)

    async def checkpoint(
        self, timeout: Timeout = DEFAULT, *, progress: Callable[[], object] | None = None, every: float = 1.0
    ) -> None:
        """As :meth:`Job.checkpoint`; a cancelled ``await`` is as its time limit: the job is still parked.

        ``progress`` is called in the loop.
        """
        limit, seconds = timeout_seconds(timeout, "checkpoint"), period(progress, every, "checkpoint")
        parks, tell = self._jobs.park(self._job)
        if tell is not None:
            await self._tell(tell)
        if not parks:
            return

        async def look() -> None:
            if progress is not None:
                progress()

        released = partial(self._jobs.released, self._job)
        await until(self._jobs, released, self._jobs.not_released, limit, look, seconds)

    async def __aenter__(self) -> AsyncJob:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.done()


class Admission:
    """An admission that is asked for: ``async with`` it, or ``await`` it and call the job's ``done``."""

    def __init__(self, admit: Callable[[], Coroutine[Any, Any, AsyncJob]]) -> None:
        """Made by :meth:`AsyncPauseControl.admit`."""
        self._admit = admit
        self._job: AsyncJob | None = None

    def __await__(self) -> Generator[Any, None, AsyncJob]:
        return self._admit().__await__()

    async def __aenter__(self) -> AsyncJob:
        self._job = await self._admit()
        return self._job

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._job is not None:
            await self._job.done()


async def until(
    jobs: RankJobs,
    look: Callable[[], T | None],
    late: Callable[[float], CommTimeoutError],
    limit: float | None,
    progress: Look,
    every: float | None,
) -> T:
    """As :func:`fdcomm.watched.until`, in the loop: the rank's thread wakes it when it has taken an order.

    Nothing is awaited between a look that finds something and the return, so a cancelled task has found nothing.
    """
    loop, changed, clock = asyncio.get_running_loop(), asyncio.Event(), jobs.clock
    deadline = Deadline(limit, clock)
    news = Deadline(every, clock)

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits in it
            loop.call_soon_threadsafe(changed.set)

    with jobs.watched(wake):
        while True:
            changed.clear()
            found = jobs.look(look)
            if found is not None:
                return found
            if deadline.expired():
                raise late(deadline.waited())
            left = [seconds for seconds in (deadline.remaining(), news.remaining()) if seconds is not None]
            waiter = asyncio.ensure_future(changed.wait())
            try:
                await asyncio.wait((waiter,), timeout=min(left, default=None))
            finally:
                waiter.cancel()
            if news.expired():
                await progress()
                news = Deadline(every, clock)
