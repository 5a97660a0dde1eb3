"""Control requests for asyncio: results, and a cancelled task that ends its own request only."""

from __future__ import annotations

import asyncio

import pytest

from fdcomm import ControlServer, EngineWorkerQueue
from fdcomm.aio import AsyncControlClient

pytestmark = pytest.mark.multiproc
LONG_S = 60.0


def test_a_cancelled_task_withdraws_its_own_request() -> None:
    async def main(server: EngineWorkerQueue, rank: EngineWorkerQueue) -> None:
        async with AsyncControlClient(server) as client:

            async def open_requests(count: int) -> tuple[int, ...]:
                while len(found := (await client.statistics()).waiting_for) != count:
                    pass
                return tuple(number for number, _ in found)

            first = asyncio.create_task(client.ask("first", timeout=LONG_S))
            assert await open_requests(1) == (1,)
            second = asyncio.create_task(client.ask("second", timeout=LONG_S))
            assert await open_requests(2) == (1, 2)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            assert await open_requests(1) == (2,)
            request = ControlServer(rank).take()
            assert request is not None
            request.answer(request.payload)
            result = await second
            assert (result.number, result.answers[0].value) == (2, "second")
            assert (await client.ask("nobody", timeout=0, allow_partial=True)).missing == (0,)

    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=1) as server:
        with EngineWorkerQueue(server.address, num_client=1, client_id=0) as rank:
            asyncio.run(asyncio.wait_for(main(server, rank), LONG_S))
