"""Readiness for asyncio: :class:`fdcomm.readiness.Readiness` in threads of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeVar

from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.handle import Handle
from fdcomm.readiness import PartHealth, Progress, Readiness, _tokens

__all__ = ("AsyncReadiness",)

_THREADS: Final = 8
_LOOK_S: Final = 0.05
T = TypeVar("T")


class AsyncReadiness:
    """What needs parts, as coroutines: for an API server. A cancelled task cancels its wait in the host.

    At most 8 calls are under way at a time; more wait for their turn. A part is not for asyncio: its loop beats.
    """

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open. Close with :meth:`aclose`."""
        self._readiness = Readiness(queue)
        self._threads = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="fdcomm readiness")

    async def wait(
        self,
        components: str | Iterable[str],
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        restarts: bool = False,
    ) -> None:
        """As :meth:`Readiness.wait`. ``progress`` is called in a thread."""
        token = next(_tokens)
        names = components if isinstance(components, str) else list(components)
        future = self._threads.submit(
            partial(self._readiness._wait, token, names, timeout, progress, restarts=restarts)
        )
        try:
            await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.done():
                self._threads.submit(self._end, future, token)
            raise

    async def check(self, *components: str) -> None:
        """As :meth:`Readiness.check`."""
        await self._in_thread(partial(self._readiness.check, *components))

    async def health(self) -> tuple[PartHealth, ...]:
        """As :meth:`Readiness.health`."""
        return await self._in_thread(self._readiness.health)

    async def watch(self, seen: dict[str, Any] | None = None, *, timeout: Timeout = DEFAULT) -> dict[str, Any]:
        """As :meth:`Readiness.watch`. A cancelled task's call goes on in its thread until its time is over."""
        return await self._in_thread(partial(self._readiness.watch, seen, timeout=timeout))

    async def statistics(self) -> dict[str, Any]:
        """As :meth:`Readiness.statistics`."""
        return await self._in_thread(self._readiness.statistics)

    async def aclose(self) -> None:
        """Wait for the calls that are under way, and end the threads. The handle stays open."""
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)

    async def __aenter__(self) -> AsyncReadiness:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._threads.submit(call))

    def _end(self, future: concurrent.futures.Future[None], token: int) -> None:
        """Cancel until the call has ended: it may not have reached the host yet."""
        while not future.done():
            self._readiness._give_up(token)
            concurrent.futures.wait([future], _LOOK_S)
