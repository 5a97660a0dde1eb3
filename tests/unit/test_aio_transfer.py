"""Transfers for asyncio: a wait takes no thread, and a cancelled task gives up its own transfer only."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from fdcomm.aio import AsyncTransferClient
from fdcomm.blocks import BlockLists
from fdcomm.errors import CommTimeoutError, TransferCancelledError
from fdcomm.transfer_client import TransferClient
from tests.conformance.memory_port import MemoryPort

LIMIT_S = 30.0


def _run(scenario: Any) -> None:
    port, lists = MemoryPort(), BlockLists(8, 8)

    async def within() -> None:
        with TransferClient(port, lists) as client:
            async with AsyncTransferClient(client) as transfers:
                await asyncio.wait_for(scenario(port, lists, transfers), LIMIT_S)
            lists.check()

    asyncio.run(within())


def _swap(lists: BlockLists, transfers: AsyncTransferClient, **more: Any) -> Coroutine[Any, Any, Any]:
    return transfers.swap("task", "swap", lists.allocate(), lists.allocate(1, "host"), **more)


async def _until(fact: Any) -> None:
    while not fact():
        await asyncio.sleep(0)


def test_many_swaps_wait_without_threads() -> None:
    async def scenario(port: MemoryPort, lists: BlockLists, transfers: AsyncTransferClient) -> None:
        before = threading.active_count()
        swaps = [asyncio.ensure_future(_swap(lists, transfers)) for _ in range(8)]
        await _until(lambda: port.issued == 8)
        assert threading.active_count() <= before + 4
        port.serve(8)
        assert sorted(result.lease.ids[0] for result in await asyncio.gather(*swaps)) == list(range(8, 16))
        assert (await transfers.statistics()).ok == 8

    _run(scenario)


def test_a_cancelled_task_gives_its_transfer_up() -> None:
    async def scenario(port: MemoryPort, lists: BlockLists, transfers: AsyncTransferClient) -> None:
        one, other = (asyncio.ensure_future(_swap(lists, transfers)) for _ in range(2))
        await _until(lambda: port.issued == 2)
        await asyncio.sleep(0)
        one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await one
        port.serve(2)
        await other
        await _until(lambda: lists.statistics().in_flight == 0)
        assert (await transfers.statistics()).given_up == 1
        assert lists.statistics().leased == 1

    _run(scenario)


def test_a_wait_that_is_late_and_a_reset() -> None:
    async def scenario(port: MemoryPort, lists: BlockLists, transfers: AsyncTransferClient) -> None:
        with pytest.raises(CommTimeoutError):
            await _swap(lists, transfers, timeout=0.01)
        waiting = asyncio.ensure_future(_swap(lists, transfers))
        await _until(lambda: port.issued == 2)
        assert await transfers.reset(timeout=LIMIT_S) == 1
        with pytest.raises(TransferCancelledError):
            await waiting
        assert lists.statistics().device_free == 8

    _run(scenario)
