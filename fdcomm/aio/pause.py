"""Pauses for programs that run an asyncio loop, such as an API server."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from fdcomm import arguments
from fdcomm.aio.jobs import Admission, AsyncJob, until
from fdcomm.aio.threads import InThreads
from fdcomm.aio.watched import end_of, to_the_end, told
from fdcomm.core.pause import Mode
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, FdcommError
from fdcomm.handle import Handle
from fdcomm.pause import PauseControl
from fdcomm.pause_waits import PauseStatistics, Progress, new_token
from fdcomm.watched import period

__all__ = ("AsyncPauseControl", "OnCancel")

OnCancel: TypeAlias = Literal["leave", "cancel_pause"]
"""What becomes of a pause whose ``await`` is cancelled."""

T = TypeVar("T")
_THREADS = 8


class AsyncPauseControl(InThreads):
    """:class:`fdcomm.PauseControl`, each call that waits in the host in a thread of this object's own.

    When an ``await`` is cancelled its call is given up in the host, at once. What was ordered stays ordered, unless
    :meth:`pause` is told otherwise: after a cancelled ``resume`` the group runs, if it was given the order; after a
    cancelled ``pause`` it is paused, or will be. At most 8 calls are under way at a time; more wait for their turn.
    Jobs wait in no thread: any number may wait for the end of a pause.
    """

    def __init__(self, queue: Handle, *, rank: bool = False) -> None:
        """As :class:`PauseControl`. With ``rank=True`` this makes one round trip, in the thread that calls it."""
        super().__init__("pause", _THREADS)
        self._control = PauseControl(queue, rank=rank)

    def admit(self, *, timeout: Timeout = DEFAULT, progress: Progress | None = None, every: float = 1.0) -> Admission:
        """As :meth:`PauseControl.admit`: ``async with control.admit() as job``, or ``job = await control.admit()``.

        A job whose ``await`` is cancelled was not admitted. ``progress`` is called in the loop. No thread is needed,
        and while the gate is open nothing is awaited.
        """
        jobs = self._control._rank("admit")
        limit, seconds = timeout_seconds(timeout, "admit"), period(progress, every, "admit")

        async def look() -> None:
            if progress is None:
                return
            try:
                seen = await self._at_once(self._control._waits.look)
            except FdcommError:  # what has happened to the host is what the admission is told, too
                return
            progress(seen)

        async def admit() -> AsyncJob:
            job = jobs.try_admit()
            if job is None:
                job = await until(jobs, jobs.admitted, jobs.not_admitted, limit, look, seconds)
            return AsyncJob(jobs, job, self._tell)

        return Admission(admit)

    @property
    def inflight(self) -> int:
        """As :attr:`PauseControl.inflight`."""
        return self._control.inflight

    async def aclose(self) -> None:
        """As :meth:`PauseControl.close`; then wait for the calls that are under way, and end their threads.

        A job that ends later tells the host so in the thread that runs the loop.
        """
        await asyncio.get_running_loop().run_in_executor(None, self._control.close)
        await super().aclose()

    async def pause(
        self,
        mode: Mode = "drain",
        *,
        timeout: Timeout = DEFAULT,
        on_cancel: OnCancel = "leave",
        progress: Progress | None = None,
        every: float = 1.0,
    ) -> int:
        """As :meth:`PauseControl.pause`.

        Args:
            mode: As there.
            timeout: As there.
            on_cancel: When the ``await`` is cancelled: ``leave`` the pause ordered, for whoever pauses next or
                resumes; or ``cancel_pause``: give it up, unless it has been reached in the meantime; then it stays.
                Other clients that wait for it are told (PauseEndedError). The cancellation waits for that, up to ten
                seconds.
            progress: As there; called in the loop.
            every: As there.
        """
        if on_cancel not in ("leave", "cancel_pause"):
            raise ConfigError(f"pause: on_cancel={on_cancel!r} is neither leave nor cancel_pause", operation="pause")

        def call(token: int) -> tuple[int, int, bool]:
            return self._control._pause(mode, hold=False, timeout=timeout, token=token)

        try:
            return (await self._waited("pause", call, progress, every))[0]
        except asyncio.CancelledError:
            if on_cancel == "cancel_pause":
                await to_the_end(self._in_thread(self._cancel_pause))
            raise

    async def resume(
        self,
        pause: int | None = None,
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        every: float = 1.0,
    ) -> None:
        """As :meth:`PauseControl.resume`. ``progress`` is called in the loop."""
        which = arguments.number_or_none(pause, "pause", "resume")

        def call(token: int) -> None:
            self._control._wait("resume", which, timeout=timeout, token=token)

        await self._waited("resume", call, progress, every)

    async def cancel_pause(
        self, *, timeout: Timeout = DEFAULT, progress: Progress | None = None, every: float = 1.0
    ) -> bool:
        """As :meth:`PauseControl.cancel_pause`. ``progress`` is called in the loop."""

        def call(token: int) -> object:
            return self._control._wait("cancel", timeout=timeout, token=token)

        return bool(await self._waited("cancel_pause", call, progress, every))

    async def give_up(self) -> int:
        """As :meth:`PauseControl.give_up`."""
        return await self._at_once(self._control.give_up)

    @asynccontextmanager
    async def paused(
        self,
        mode: Mode = "drain",
        *,
        resume: bool = True,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        every: float = 1.0,
    ) -> AsyncIterator[int]:
        """As :meth:`PauseControl.paused`. A block that is cancelled lets go of the pause, and resumes if it is to.

        Cancelled before the block: a pause that has not been reached is cancelled, any other ended as after the block.
        """
        resume = arguments.flag(resume, "resume", "paused")
        number, client, _ = await self._held(mode, timeout, progress, every, resume=resume)
        try:
            yield number
        finally:
            await to_the_end(self._end(number, client, resume=resume, timeout=timeout))

    async def clear(
        self,
        work: Callable[[], Awaitable[T]],
        mode: Mode = "drain",
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        every: float = 1.0,
    ) -> T:
        """As :meth:`PauseControl.clear`, of a coroutine function. Cancelling is as for :meth:`paused`."""
        arguments.function(work, "work", "clear")
        number, client, begun = await self._held(mode, timeout, progress, every, resume=None)
        try:
            return await work()
        finally:
            await to_the_end(self._end(number, client, resume=begun, timeout=timeout))

    async def statistics(self) -> PauseStatistics:
        """As :meth:`PauseControl.statistics`."""
        return await self._at_once(self._control.statistics)

    # -- helpers -------------------------------------------------------------------------------------------------

    async def _waited(
        self,
        name: str,
        call: Callable[[int], T],
        progress: Progress | None,
        every: float,
        end: Callable[[], object] | None = None,
        undo: Callable[[T], Awaitable[object]] | None = None,
    ) -> T:
        """Wait for a call that the host can give up; do so when this is cancelled, or ``progress`` raises.

        Or ``end`` ends it then. ``undo`` is called with the answer of a call that was answered nevertheless.
        """
        seconds = period(progress, every, name)
        token = new_token()
        future = self._threads.submit(call, token)
        answer = asyncio.wrap_future(future)
        try:
            await told(answer, lambda: self._at_once(self._control._waits.look), progress, seconds)
        except (Exception, asyncio.CancelledError):
            answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            give_up = partial(self._control._waits.give_up, token)
            await to_the_end(self._abandon(future, end or give_up, undo))
            raise
        return answer.result()

    async def _abandon(
        self,
        future: concurrent.futures.Future[T],
        end: Callable[[], object],
        undo: Callable[[T], Awaitable[object]] | None,
    ) -> None:
        if future.cancel():
            return
        await self._at_once(partial(end_of, future, end))
        if undo is not None and future.exception() is None:
            await undo(future.result())

    async def _held(
        self, mode: Mode, timeout: Timeout, progress: Progress | None, every: float, *, resume: bool | None
    ) -> tuple[int, int, bool]:
        def call(token: int) -> tuple[int, int, bool]:
            return self._control._pause(mode, hold=True, timeout=timeout, token=token)

        async def undo(answer: tuple[int, int, bool]) -> None:
            resumes = answer[2] if resume is None else resume
            await self._end(answer[0], answer[1], resume=resumes, timeout=timeout)

        return await self._waited("pause", call, progress, every, self._cancel_pause, undo)

    async def _end(self, number: int, client: int, *, resume: bool, timeout: Timeout) -> None:
        await self._at_once(lambda: self._control._holds.let_go(client, "paused"))
        if resume:
            await self._in_thread(lambda: self._control._resume_after(number, timeout))

    def _cancel_pause(self) -> None:
        with contextlib.suppress(FdcommError):  # the cancellation is what the caller is told
            self._control.cancel_pause(timeout=10.0)
