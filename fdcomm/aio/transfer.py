"""Transfers for asyncio: :class:`fdcomm.transfer_client.TransferClient` in threads of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fdcomm.aio.threads import InThreads
from fdcomm.blocks import Lease
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.swap import Swap, SwapResult
from fdcomm.transfer_client import TransferClient, TransferClientStatistics

__all__ = ("AsyncTransferClient",)

_THREADS: Final = 4


class AsyncTransferClient(InThreads):
    """The client's calls as coroutines. A cancelled :meth:`swap` gives its transfer up; its blocks are then nobody's.

    Waiting takes no thread. At most 4 issues and resets are under way at a time; more wait for their turn.
    """

    def __init__(self, client: TransferClient) -> None:
        """Use a client, which must stay open. End with :meth:`aclose`."""
        super().__init__("transfers", _THREADS)
        self._client = client

    async def swap(
        self,
        task: Any,
        kind: str,
        source: Lease,
        target: Lease | None = None,
        *,
        timeout: Timeout = DEFAULT,
        room_timeout: Timeout = 0.0,
    ) -> SwapResult:
        """As :meth:`TransferClient.issue`, then :meth:`Swap.wait`.

        Args:
            task: For the ranks.
            kind: For the ranks.
            source: Blocks to move.
            target: Blocks to move them to.
            timeout: Seconds to wait for the end.
            room_timeout: Seconds to wait for room in the queue.
        """
        issue = partial(self._client.issue, task, kind, source, target, timeout=room_timeout)
        call = self._threads.submit(issue)
        try:
            swap = await asyncio.wrap_future(call)
        except asyncio.CancelledError:
            call.add_done_callback(_give_up)
            raise
        try:
            return await self.wait(swap, timeout=timeout)
        except asyncio.CancelledError:
            swap.cancel()
            raise

    async def wait(self, swap: Swap, *, timeout: Timeout = DEFAULT) -> SwapResult:
        """As :meth:`Swap.wait`. A cancelled wait leaves the transfer as it is."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def done(_: Swap) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(ended.set)

        swap.add_done_callback(done)
        waited = asyncio.ensure_future(ended.wait())
        try:
            await asyncio.wait((waited,), timeout=swap.limit(timeout))
        finally:
            waited.cancel()
        return swap.wait(0.0)

    async def reset(self, *, timeout: Timeout = DEFAULT, during: Callable[[], object] | None = None) -> int:
        """As :meth:`TransferClient.reset`. A cancelled task's reset goes on in its thread."""
        return await self._in_thread(partial(self._client.reset, timeout=timeout, during=during))

    async def statistics(self) -> TransferClientStatistics:
        """As :meth:`TransferClient.statistics`."""
        return self._client.statistics()


def _give_up(call: concurrent.futures.Future[Swap]) -> None:
    if not call.cancelled() and call.exception() is None:
        call.result().cancel()
