"""Takes for asyncio: what the host has handed out is lost by no cancelled ``await``."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import Callable
from functools import partial
from typing import Final, Generic, Protocol, TypeVar

from fdcomm.aio.threads import InThreads
from fdcomm.aio.watched import LOOK_S
from fdcomm.deadline import Deadline
from fdcomm.errors import FdcommError
from fdcomm.runtime import SYSTEM

__all__ = ("Takes",)

_THREADS: Final = 1


class Order(Protocol):
    """What is taken: somebody waits for its outcome."""

    def fail(self, reason: str) -> object:
        """Say that it was not done."""


T = TypeVar("T", bound=Order)


class Takes(InThreads, Generic[T]):
    """Base of what takes orders from the host, one at a time, each in a thread.

    A call whose ``await`` was cancelled goes on; what it takes is the answer of the next one.

    Args:
        name: Of the thread.
        take: Waits so many seconds for something to take.
        closed: The reason with which an order fails that nobody has taken at the end.
    """

    def __init__(self, name: str, take: Callable[[float], T | None], closed: str) -> None:
        super().__init__(name, _THREADS)
        self._take = take
        self._closed = closed
        self._turn = asyncio.Lock()
        self._begun: concurrent.futures.Future[T | None] | None = None

    async def aclose(self) -> None:
        """End the thread, a second after the last take at most. What nobody has taken is answered as failed.

        The handle stays open, and the process stands for what it stood for until that closes.
        """
        await super().aclose()
        left = self._last()
        if left is not None:
            with contextlib.suppress(FdcommError):
                await asyncio.get_running_loop().run_in_executor(None, left.fail, self._closed)

    async def _next(self, limit: float | None) -> T | None:
        """Take something; None when there is nothing within ``limit`` seconds."""
        async with self._turn:
            deadline = Deadline(limit, SYSTEM.monotonic)
            while True:
                left, own = deadline.remaining(), self._begun is None
                if self._begun is None:
                    wait_s = LOOK_S if left is None else min(left, LOOK_S)
                    self._begun = self._threads.submit(partial(self._take, wait_s))
                answer = asyncio.wrap_future(self._begun)
                answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
                # A call of ours ends by itself in time; one that was left behind may not.
                if not (await asyncio.wait((answer,), timeout=None if own else left))[0]:
                    return None
                begun, self._begun = self._begun, None
                found = begun.result()
                if found is not None or deadline.expired():
                    return found

    def _last(self) -> T | None:
        """Wait for the call that was left behind, and return what it has taken. For a thread, at the end."""
        begun, self._begun = self._begun, None
        if begun is None:
            return None
        try:
            return begun.result()
        except (FdcommError, concurrent.futures.CancelledError):
            return None
