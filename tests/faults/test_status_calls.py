"""Waiting for clears and updates: cancelled, told how they go, in asyncio; and a part whose work fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fdcomm import (
    CommTimeoutError,
    EngineWorkerQueue,
    StatusCancelledError,
    StatusCoordinator,
    StatusPart,
    http_code,
)
from fdcomm.aio import AsyncStatusCoordinator
from fdcomm.errors import StaleReportError
from fdcomm.status_part import PartStatistics
from tests.conformance.waiting import Background
from tests.faults.remote import LIMIT_S
from tests.faults.status_parts import done, parts, server

__all__ = ("parts", "server")

pytestmark = pytest.mark.multiproc


def test_asyncio_cancels_in_the_host_and_waits_beside_it(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    async def main() -> None:
        async with AsyncStatusCoordinator(server) as coordinator:
            task = asyncio.create_task(coordinator.clear(timeout=LIMIT_S))
            view = await coordinator.statistics()
            while view["open"] is None:
                view = await coordinator.watch(view, timeout=LIMIT_S)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while view["open"] is not None:
                view = await coordinator.watch(view, timeout=LIMIT_S)
            assert (await coordinator.words()) == {"kv_cache": -1}
            with pytest.raises(CommTimeoutError):
                await coordinator.update(timeout=0.0)
            doing = asyncio.create_task(coordinator.update(timeout=LIMIT_S))
            waiting = asyncio.create_task(coordinator.wait_for("kv_cache", 0, timeout=LIMIT_S))
            for part in parts:
                order = await asyncio.to_thread(part.take, timeout=LIMIT_S)
                assert order is not None
                order.done()
            assert (await doing).ok
            assert await waiting == 0

    asyncio.run(main())


def test_asyncio_cancels_also_when_every_thread_waits(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    async def main() -> None:
        async with AsyncStatusCoordinator(server) as coordinator:
            task = asyncio.create_task(coordinator.clear(timeout=LIMIT_S))
            while (view := await coordinator.statistics())["open"] is None:
                await coordinator.watch(view, timeout=LIMIT_S)
            waits = [asyncio.create_task(coordinator.wait_for("kv_cache", 0, timeout=LIMIT_S)) for _ in range(9)]
            await asyncio.sleep(0)  # all have begun, and some wait for their turn
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while (await coordinator.statistics())["open"] is not None:
                await asyncio.sleep(0)
            assert not any(wait.done() for wait in waits)
            update = Background(lambda: StatusCoordinator(server).update(timeout=LIMIT_S))
            assert (await asyncio.to_thread(done, update, parts)).ok
            assert await asyncio.gather(*waits) == [0] * 9

    asyncio.run(main())


def test_a_cancel_from_another_thread(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    coordinator = StatusCoordinator(server)
    assert coordinator.cancel() is False
    asking = Background(lambda: coordinator.clear(timeout=LIMIT_S))
    assert parts[0].take(timeout=LIMIT_S) is not None
    assert coordinator.cancel() is True
    error = asking.error()
    assert isinstance(error, StatusCancelledError)
    assert (error.request, http_code(error)) == (1, 404)


def test_progress_tells_which_parts_are_waited_for(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    coordinator, told = StatusCoordinator(server), list[Any]()

    def progress(seen: dict[str, Any]) -> None:
        # A look may come before the host has the request, or when all is done.
        if seen["missing"] and (not told or told[-1] != seen["missing"]):
            told.append(seen["missing"])
            order = parts[len(told) - 1].take(timeout=LIMIT_S)
            assert order is not None
            order.done()

    assert coordinator.clear(timeout=LIMIT_S, progress=progress, every=0.01).ok
    assert told == [{"kv_cache": (0, 1)}, {"kv_cache": (1,)}]

    def stop(seen: dict[str, Any]) -> None:
        if seen["open"] is not None:
            raise KeyError(seen["open"])

    with pytest.raises(KeyError, match="update"):
        coordinator.update(timeout=None, progress=stop, every=0.01)
    assert coordinator.statistics()["open"] is None

    async def main() -> None:
        async with AsyncStatusCoordinator(server) as other:
            told.clear()
            assert (await other.update(timeout=LIMIT_S, progress=progress, every=0.01)).ok
            with pytest.raises(KeyError, match="clear"):
                await other.clear(timeout=None, progress=stop, every=0.01)
            while (await other.statistics())["open"] is not None:
                await asyncio.sleep(0)

    asyncio.run(main())
    assert told == [{"kv_cache": (0, 1)}, {"kv_cache": (1,)}]


def test_a_part_whose_work_raises_goes_on_serving(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    coordinator = StatusCoordinator(server)
    tries = iter((True, False))

    def clear() -> None:
        if next(tries):
            raise ValueError("no memory to give back")

    ended: list[bool] = []
    serving = Background(lambda: parts[1].serve({"clear": clear}, lambda: bool(ended)))
    first = Background(lambda: coordinator.clear(timeout=LIMIT_S))
    result = done(first, parts[:1])
    assert [report.reason for report in result.failed] == ["ValueError: no memory to give back"]
    assert done(Background(lambda: coordinator.clear(timeout=LIMIT_S)), parts[:1]).ok
    assert done(Background(lambda: coordinator.update(timeout=LIMIT_S)), parts[:1]).failed[0].reason.startswith("Key")
    ended.append(True)
    serving.value()
    assert parts[1].statistics() == PartStatistics(taken=3, done=1, failed=2)
    coordinator.cancel()
    asking = Background(lambda: coordinator.clear(timeout=LIMIT_S))
    order = parts[1].take(timeout=LIMIT_S)
    assert order is not None
    assert coordinator.cancel()
    asking.error()
    with pytest.raises(StaleReportError):
        order.done()
    assert parts[1].statistics() == PartStatistics(taken=4, done=1, failed=2, late=1)
