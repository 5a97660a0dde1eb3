"""Takes for asyncio: what the host has handed out is lost by no cancelled ``await``."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from fdcomm.aio.watched import LOOK_S
from fdcomm.deadline import Deadline
from fdcomm.errors import FdcommError
from fdcomm.runtime import SYSTEM

__all__ = ("Takes",)

T = TypeVar("T")


class Takes(Generic[T]):
    """Calls that take something from the host, one at a time, each in a thread.

    A call whose ``await`` was cancelled goes on; what it takes is the answer of the next one.
    """

    def __init__(self, threads: concurrent.futures.Executor, take: Callable[[float], T | None]) -> None:
        """Use threads for a function that waits so many seconds for something to take."""
        self._threads = threads
        self._take = take
        self._turn = asyncio.Lock()
        self._begun: concurrent.futures.Future[T | None] | None = None

    async def take(self, limit: float | None) -> T | None:
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

    def last(self) -> T | None:
        """Wait for the call that was left behind, and return what it has taken. For a thread, at the end."""
        begun, self._begun = self._begun, None
        if begun is None:
            return None
        try:
            return begun.result()
        except (FdcommError, concurrent.futures.CancelledError):
            return None
