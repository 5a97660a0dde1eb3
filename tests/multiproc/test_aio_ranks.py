"""Processes of an engine that run an asyncio loop: parts that take orders, ranks that take requests, readiness."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from fdcomm import (
    CommTimeoutError,
    ControlClient,
    ControlResult,
    EngineWorkerQueue,
    ProtocolViolationError,
    Readiness,
    StatusCoordinator,
    StatusResult,
)
from fdcomm.aio import AsyncControlServer, AsyncReadiness, AsyncStatusCoordinator, AsyncStatusPart
from fdcomm.errors import ConfigError
from fdcomm.readiness_results import PartHealth
from tests.conformance.waiting import Background, until
from tests.faults.remote import LIMIT_S

pytestmark = pytest.mark.multiproc
TURNS = 24


class World:
    """A host with one part of everything, and a handle of the process that is it."""

    def __init__(self, server: EngineWorkerQueue, queue: EngineWorkerQueue) -> None:
        self.server, self.queue = server, queue
        self.status, self.control, self.readiness = StatusCoordinator(server), ControlClient(server), Readiness(server)
        self.status.declare([("cache", 0, 1)])
        self.readiness.declare([("cache", 1)])

    def clear(self) -> Background:
        """Ask for a clear, in another thread."""
        return Background(lambda: self.status.clear(timeout=LIMIT_S))

    def ask(self, request: Any) -> Background:
        """Ask the rank, in another thread."""
        return Background(lambda: self.control.ask(request, timeout=LIMIT_S))


@pytest.fixture
def world() -> Iterator[World]:
    with ExitStack() as undo:
        server = undo.enter_context(EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=1))
        yield World(server, undo.enter_context(EngineWorkerQueue(server.address, num_client=1, client_id=0)))


def _run(program: Coroutine[Any, Any, None]) -> None:
    """Run it; no thread of its objects is left."""
    asyncio.run(asyncio.wait_for(program, LIMIT_S))
    names = ("fdcomm status", "fdcomm control", "fdcomm readiness")
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith(names)] == []


async def _cancelled(make: Callable[[], Coroutine[Any, Any, Any]], turns: int) -> Any:
    """Cancel a call after so many turns of the loop; return its result if it was quicker."""
    task = asyncio.create_task(make())
    for _ in range(turns):
        await asyncio.sleep(0 if turns % 2 else 0.0001)
    task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        return None


# -- status ----------------------------------------------------------------------------------------------------------


def test_a_part_serves_and_its_failures_are_told(world: World) -> None:
    async def program() -> None:
        did: list[str] = []

        async def clear() -> None:
            await asyncio.sleep(0)
            if not did:
                did.append("tried")
                raise MemoryError("no room")
            did.append("cleared")

        async with AsyncStatusPart(world.queue, "cache") as part:
            assert await part.take() is None
            with pytest.raises(ConfigError):
                await part.serve({"clear": 5})  # type: ignore[dict-item]
            serving = asyncio.create_task(part.serve({"clear": clear}, lambda: len(did) == 2))
            first: StatusResult = await asyncio.to_thread(world.clear().value)
            assert [report.reason for report in first.failed] == ["MemoryError: no room"]
            assert (await asyncio.to_thread(world.clear().value)).ok
            await serving
            assert (part.statistics().done, part.statistics().failed) == (1, 1)

    _run(program())


def test_an_order_is_lost_by_no_cancelled_await(world: World) -> None:
    async def program() -> None:
        async with AsyncStatusPart(world.queue, "cache") as part:
            for turns in range(TURNS):
                asking = Background(lambda: world.status.update(timeout=LIMIT_S)) if turns % 2 else world.clear()
                order = await _cancelled(lambda: part.take(timeout=LIMIT_S), turns)
                order = order or await part.take(timeout=LIMIT_S)
                assert order is not None, turns
                if turns % 3 == 0:
                    await _cancelled(order.done, turns // 3 + 1)  # a task that has not begun does nothing
                else:
                    await order.done()
                assert (await asyncio.to_thread(asking.value)).ok, turns
            with pytest.raises(ProtocolViolationError):
                await order.done()

    _run(program())


def test_work_that_is_cancelled_and_orders_that_nobody_takes_are_failures(world: World) -> None:
    async def program() -> None:
        begun = asyncio.Event()

        async def clear() -> None:
            begun.set()
            await asyncio.Event().wait()

        part = AsyncStatusPart(world.queue, "cache")
        serving = asyncio.create_task(part.serve({"clear": clear}))
        asking = world.clear()
        await begun.wait()
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        result: StatusResult = await asyncio.to_thread(asking.value)
        assert "CancelledError" in result.failed[0].reason
        assert await _cancelled(lambda: part.take(timeout=None), 3) is None
        asking = world.clear()
        while part.statistics().taken != 2:  # by the call that was left behind
            await asyncio.sleep(0.001)
        await part.aclose()
        result = await asyncio.to_thread(asking.value)
        assert [report.reason for report in result.failed] == ["the part was closed"]

    _run(program())


def test_a_wait_for_a_word_tells_of_changes_in_the_loop(world: World) -> None:
    async def program() -> None:
        told: list[tuple[int, int]] = []

        def progress(seen: dict[str, Any]) -> None:
            told.append((threading.get_ident(), seen["components"]["cache"]["word"]))

        async with AsyncStatusCoordinator(world.server) as status, AsyncStatusPart(world.queue, "cache") as part:
            waiting = asyncio.create_task(status.wait_for("cache", -2, timeout=LIMIT_S, progress=progress))
            while not told:
                await asyncio.sleep(0)
            asking = world.clear()
            order = await part.take(timeout=LIMIT_S)
            assert order is not None
            while told[-1][1] != -1:
                await asyncio.sleep(0)
            await order.done()
            assert await waiting == -2
            assert {thread for thread, _ in told} == {threading.get_ident()}
            assert (await asyncio.to_thread(asking.value)).ok
            with pytest.raises(CommTimeoutError):
                await status.wait_for("cache", 0, timeout=0)

    _run(program())
    told: list[int] = []
    with pytest.raises(CommTimeoutError):
        world.status.word("cache").wait_for(0, timeout=0, progress=lambda seen: told.append(seen["asked"]))
    assert told == [1]


# -- control ---------------------------------------------------------------------------------------------------------


def test_a_rank_answers_whatever_its_handler_does(world: World) -> None:
    async def program() -> None:
        seen: list[Any] = []

        async def handler(request: Any) -> Any:
            await asyncio.sleep(0)
            seen.append(request)
            if request == "fail":
                raise ValueError("cannot")
            return (lambda: None) if request == "unpicklable" else request

        async with AsyncControlServer(world.queue) as server:
            serving = asyncio.create_task(server.serve(handler, lambda: len(seen) == 3))
            answers = []
            for request in ("fail", "unpicklable", "value"):
                result: ControlResult = await asyncio.to_thread(world.ask(request).value)
                answers.append(result.answers[0])
            await serving
        assert [answer.ok for answer in answers] == [False, False, True]
        assert answers[0].value == "ValueError: cannot"
        assert answers[2].value == "value"

    _run(program())


def test_a_request_is_lost_by_no_cancelled_await(world: World) -> None:
    async def program() -> None:
        async with AsyncControlServer(world.queue) as server:
            for turns in range(TURNS):
                asking = world.ask(turns)
                request = await _cancelled(lambda: server.take(timeout=LIMIT_S), turns)
                request = request or await server.take(timeout=LIMIT_S)
                assert request is not None
                assert request.payload == turns
                if turns % 3 == 0:
                    await _cancelled(lambda request=request: request.answer("done"), turns // 3 + 1)  # type: ignore[misc]
                else:
                    await request.answer("done")
                assert (await asyncio.to_thread(asking.value)).answers[0].value == "done", turns
            with pytest.raises(ProtocolViolationError):
                await request.fail("once more")
            assert server.statistics().taken == TURNS

    _run(program())


def test_a_request_whose_work_is_cancelled_is_answered(world: World) -> None:
    async def program() -> None:
        begun = asyncio.Event()

        async def handler(request: Any) -> None:
            begun.set()
            await asyncio.Event().wait()

        async with AsyncControlServer(world.queue) as server:
            serving = asyncio.create_task(server.serve(handler))
            asking = world.ask("wait")
            await begun.wait()
            serving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await serving
            result: ControlResult = await asyncio.to_thread(asking.value)
            assert "CancelledError" in result.answers[0].value

    _run(program())


# -- readiness -------------------------------------------------------------------------------------------------------


def test_a_part_beats_while_its_loop_comes_round(world: World) -> None:
    async def program() -> None:
        async with AsyncReadiness(world.queue, limit=0.2) as part:
            with pytest.raises(ProtocolViolationError):
                await part.beat()
            with pytest.raises(ConfigError):
                await part.keep_beating(0)
            await part.starting("cache", stage="loads", fraction=0.5)
            await part.ready()
            beating = asyncio.create_task(part.keep_beating(0.01))
            until(lambda: _health(world).health == "stuck", "a blocked loop is seen")  # this blocks it
            while _health(world).health != "ready":
                await asyncio.sleep(0.001)
            await part.withdraw("reloads")
            assert (_health(world).health, _health(world).stage) == ("starting", "reloads")
            await part.failed("no memory")
            await part.starting("cache")
            await part.ready(limit=None)
            assert not beating.done()
            beating.cancel()
            with pytest.raises(asyncio.CancelledError):
                await beating
            await part.leave()
        assert _health(world).health == "away"

    _run(program())


def _health(world: World) -> PartHealth:
    return world.readiness.health()[0]


def test_a_wait_tells_in_the_loop_and_ends_wherever_it_is_cancelled(world: World) -> None:
    async def program() -> None:
        told: list[tuple[int, str]] = []

        def progress(lacking: tuple[PartHealth, ...]) -> None:
            told.append((threading.get_ident(), lacking[0].stage))

        def stop(lacking: tuple[PartHealth, ...]) -> None:
            raise KeyError(lacking[0].health)

        async with AsyncReadiness(world.server) as engine, AsyncReadiness(world.queue, limit=None) as part:
            for turns in range(TURNS):
                await _cancelled(lambda: engine.wait("cache", timeout=LIMIT_S, progress=progress), turns)
                while (await engine.statistics())["waiting"]:
                    await asyncio.sleep(0)
            with pytest.raises(KeyError, match="away"):
                await engine.wait(["cache"], timeout=None, progress=stop)
            assert (await engine.statistics())["waiting"] == []
            waiting = asyncio.create_task(engine.wait("cache", timeout=LIMIT_S, progress=progress))
            for stage in ("loads", "warms up"):
                await part.starting("cache", stage=stage)
                while told[-1][1] != stage:
                    await asyncio.sleep(0)
            await part.ready()
            await waiting
            assert {thread for thread, _ in told} == {threading.get_ident()}

    _run(program())
