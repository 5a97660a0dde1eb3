"""Control requests for asyncio: :class:`fdcomm.control.ControlClient` in threads of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fdcomm.aio.threads import InThreads
from fdcomm.control import ControlClient, ControlResult, ControlStatistics
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.handle import Handle
from fdcomm.watched import period

__all__ = ("AsyncControlClient",)

_THREADS: Final = 8


class AsyncControlClient(InThreads):
    """The client's calls as coroutines. A cancelled task withdraws its own request, and no other.

    At most 8 calls are under way at a time; more wait for their turn.
    """

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open. Close with :meth:`aclose`."""
        super().__init__("control", _THREADS)
        self._client = ControlClient(queue)
        self._tokens = itertools.count(1)

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
        seconds = period(progress, every, "control.ask")
        token = next(self._tokens)
        call = partial(self._client.ask, request, timeout=timeout, partial=allow_partial, token=token)
        return await self._ended(call, partial(self._client.cancel, token), self.statistics, progress, seconds)

    async def statistics(self) -> ControlStatistics:
        """As :meth:`ControlClient.statistics`."""
        return await self._at_once(self._client.statistics)
