"""Control requests for asyncio: :class:`fdcomm.control.ControlClient` in threads of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import itertools
from functools import partial
from types import TracebackType
from typing import Any, Final

from fdcomm.control import ControlClient, ControlResult, ControlStatistics
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.errors import FdcommError
from fdcomm.handle import Handle

__all__ = ("AsyncControlClient",)

_THREADS: Final = 8
_LOOK_S: Final = 0.05


class AsyncControlClient:
    """The client's calls as coroutines. A cancelled task withdraws its own request, and no other.

    At most 8 calls are under way at a time; more wait for their turn.
    """

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open. Close with :meth:`aclose`."""
        self._client = ControlClient(queue)
        self._tokens = itertools.count(1)
        self._threads = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="fdcomm control")
        # Threads of their own: when all others ask, a cancel must not wait for one of them.
        self._cancels = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="fdcomm control cancel")

    async def ask(self, request: Any, *, timeout: Timeout = DEFAULT, allow_partial: bool = False) -> ControlResult:
        """As :meth:`ControlClient.ask`; ``allow_partial`` is its ``partial``."""
        token = next(self._tokens)
        call = partial(self._client.ask, request, timeout=timeout, partial=allow_partial, token=token)
        future = self._threads.submit(call)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.done():
                self._cancels.submit(self._end, future, token)
            raise

    async def statistics(self) -> ControlStatistics:
        """As :meth:`ControlClient.statistics`."""
        return await asyncio.wrap_future(self._threads.submit(self._client.statistics))

    async def aclose(self) -> None:
        """Wait for the calls that are under way, and end the threads. The handle stays open."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._threads.shutdown)
        await loop.run_in_executor(None, self._cancels.shutdown)

    async def __aenter__(self) -> AsyncControlClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _end(self, future: concurrent.futures.Future[ControlResult], token: int) -> None:
        """Cancel until the call has ended: it may not have reached the host yet."""
        while not future.done():
            with contextlib.suppress(FdcommError):  # then the call itself ends with this error
                self._client.cancel(token)
            concurrent.futures.wait([future], _LOOK_S)
