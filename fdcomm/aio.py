"""Pauses for programs that run an asyncio loop, such as an API server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeAlias, TypeVar

from fdcomm.core.pause import Mode
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.errors import FdcommError, StalePauseError
from fdcomm.handle import Handle
from fdcomm.pause import PauseControl, PauseStatistics

__all__ = ("AsyncPauseControl", "OnCancel")

OnCancel: TypeAlias = Literal["leave", "cancel_pause"]
"""What becomes of a pause whose ``await`` is cancelled."""

T = TypeVar("T")
_THREADS = 4


class AsyncPauseControl:
    """:class:`fdcomm.PauseControl` for a client, each call in a thread of this object's own.

    Cancelling an ``await`` cannot interrupt the host: the call goes on in its thread until it returns or its time
    limit ends, and its answer is dropped. What was ordered stays ordered, unless :meth:`pause` is told otherwise. So
    after a cancelled ``resume`` the group runs; after a cancelled ``pause`` it is paused, or will be.
    """

    def __init__(self, queue: Handle) -> None:
        self._control = PauseControl(queue)
        self._threads = ThreadPoolExecutor(_THREADS, "fdcomm-aio")

    async def pause(self, mode: Mode = "drain", *, timeout: Timeout = DEFAULT, on_cancel: OnCancel = "leave") -> int:
        """As :meth:`PauseControl.pause`.

        Args:
            mode: As there.
            timeout: As there.
            on_cancel: When the ``await`` is cancelled: ``leave`` the pause ordered, for whoever pauses next or
                resumes; or ``cancel_pause``: give it up, unless it has been reached in the meantime; then it stays.
                Other clients that wait for it are told (PauseEndedError). The cancellation waits for that, up to ten
                seconds.
        """
        call = self._start(lambda: self._control.pause(mode, timeout=timeout))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            call.add_done_callback(_retrieved)
            if on_cancel == "cancel_pause":
                await asyncio.shield(self._start(self._give_up))
            raise

    async def resume(self, pause: int | None = None, *, timeout: Timeout = DEFAULT) -> None:
        """As :meth:`PauseControl.resume`."""
        await self._run(lambda: self._control.resume(pause, timeout=timeout))

    async def cancel_pause(self, *, timeout: Timeout = DEFAULT) -> bool:
        """As :meth:`PauseControl.cancel_pause`."""
        return await self._run(lambda: self._control.cancel_pause(timeout=timeout))

    @asynccontextmanager
    async def paused(
        self, mode: Mode = "drain", *, resume: bool = True, timeout: Timeout = DEFAULT
    ) -> AsyncIterator[int]:
        """As :meth:`PauseControl.paused`. A block that is cancelled lets go of the pause, and resumes if it is to.

        Cancelled before the block: the pause is given up, or let go of as soon as it is reached.
        """

        def end(number: int, client: int) -> None:
            self._control._let_go(client, "paused")
            if resume:
                with contextlib.suppress(StalePauseError):
                    self._control.resume(number, timeout=timeout)

        def abandoned(done: asyncio.Future[tuple[int, int]]) -> None:
            if not _retrieved(done):
                self._threads.submit(end, *done.result())

        call = self._start(lambda: self._control._pause(mode, hold=True, timeout=timeout))
        try:
            number, client = await asyncio.shield(call)
        except asyncio.CancelledError:
            call.add_done_callback(abandoned)
            await asyncio.shield(self._start(self._give_up))
            raise
        try:
            yield number
        finally:
            await asyncio.shield(self._start(lambda: end(number, client)))

    async def statistics(self) -> PauseStatistics:
        """As :meth:`PauseControl.statistics`."""
        return await self._run(self._control.statistics)

    async def aclose(self) -> None:
        """Wait for the calls that are under way, and end their threads. The handle stays open."""
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)

    async def __aenter__(self) -> AsyncPauseControl:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    # -- helpers -------------------------------------------------------------------------------------------------

    def _start(self, call: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def _run(self, call: Callable[[], T]) -> T:
        future = self._start(call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(_retrieved)
            raise

    def _give_up(self) -> None:
        with contextlib.suppress(FdcommError):  # the cancellation is what the caller is told
            self._control.cancel_pause(timeout=10.0)


def _retrieved(future: asyncio.Future[Any]) -> bool:
    """Take the answer of a call that nobody waits for. True: it raised."""
    return future.cancelled() or future.exception() is not None
