"""Clearing and restoring for asyncio: :class:`fdcomm.status.StatusCoordinator` in threads of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fdcomm.aio.threads import InThreads
from fdcomm.aio.watched import change
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.handle import Handle
from fdcomm.status import Progress, StatusCoordinator, StatusResult, WordWait
from fdcomm.status_constants import ModelWeightsStatus
from fdcomm.watched import period

__all__ = ("AsyncStatusCoordinator",)

_THREADS: Final = 8


class AsyncStatusCoordinator(InThreads):
    """The coordinator's calls as coroutines. A cancelled task cancels its request in the host.

    At most 8 calls are under way at a time; more wait for their turn, and :meth:`clear` and :meth:`update` are among
    them only until one of these is answered "busy".
    """

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open. Close with :meth:`aclose`."""
        super().__init__("status", _THREADS)
        self._coordinator = StatusCoordinator(queue)

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
        return await self._at_once(self._coordinator.words)

    async def statistics(self) -> dict[str, Any]:
        """As :meth:`StatusCoordinator.statistics`."""
        return await self._at_once(self._coordinator.statistics)

    async def watch(self, seen: dict[str, Any] | None = None, *, timeout: Timeout = DEFAULT) -> dict[str, Any]:
        """As :meth:`StatusCoordinator.watch`. A cancelled task's call goes on in its thread for a second at most."""
        return await change(self._watch, seen, timeout_seconds(timeout, "status.watch"))

    async def wait_for(
        self, component: str, *words: int, timeout: Timeout = DEFAULT, progress: Progress | None = None
    ) -> ModelWeightsStatus:
        """As :meth:`StatusWord.wait_for`. ``progress`` is called in the loop. Cancelling is as for :meth:`watch`."""
        wait = WordWait(self._coordinator.word(component), words, timeout, progress)
        seen: dict[str, Any] | None = None
        while True:
            seen = await change(self._watch, seen, wait.remaining())
            found = wait.look(seen)
            if found is not None:
                return found

    def _watch(self, seen: Any, wait_s: float) -> asyncio.Future[dict[str, Any]]:
        return self._in_thread(partial(self._coordinator.watch, seen, timeout=wait_s))

    async def _asked(self, call: Callable[[], StatusResult], progress: Progress | None, every: float) -> StatusResult:
        seconds = period(progress, every, "status")
        return await self._ended(call, self._coordinator.cancel, self.statistics, progress, seconds)
