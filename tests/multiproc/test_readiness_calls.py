"""What parts and those who need them can say, and hear, of a real host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fdcomm import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    EngineCacheQueue,
    EngineWorkerQueue,
    FdcommError,
    ProtocolViolationError,
    Readiness,
    RequestCancelledError,
    StartFailedError,
)
from fdcomm.aio import AsyncReadiness
from fdcomm.errors import SignalNotFoundError
from tests.conformance.waiting import Background
from tests.faults.readiness_parts import COMPONENTS, health, parts, server
from tests.faults.remote import LIMIT_S, until

__all__ = ("parts", "server")

pytestmark = pytest.mark.multiproc


def _beats(part: Readiness) -> str:
    part.beat()
    return part.health()[0].health


def test_a_failure_reaches_who_waits_and_who_comes_later(server: EngineWorkerQueue, parts: list[Readiness]) -> None:
    engine = Readiness(server)
    parts[0].starting("cache", stage="allocates")
    waiting = Background(lambda: engine.wait("cache", timeout=LIMIT_S))
    until(lambda: engine.statistics()["waits"] == 1, "the wait")
    parts[0].failed("no memory")
    assert isinstance(waiting.error(), StartFailedError)
    parts[0].failed("no memory on device 3")
    with pytest.raises(StartFailedError, match="cache 0 is failed: no memory on device 3"):
        engine.wait("cache", timeout=LIMIT_S)
    with pytest.raises(ProtocolViolationError):
        parts[0].ready()
    parts[0].starting("cache", stage="again")
    for part in parts:
        part.ready("cache")
    engine.check("cache")


def test_progress_is_told_stage_by_stage(server: EngineWorkerQueue, parts: list[Readiness]) -> None:
    engine = Readiness(server)
    told: list[tuple[tuple[int, str, float | None], ...]] = []

    def progress(lacking: Any) -> None:
        told.append(tuple((part.rank, part.stage, part.fraction) for part in lacking))

    waiting = Background(lambda: engine.wait("cache", timeout=LIMIT_S, progress=progress))
    until(lambda: bool(told), "the first progress")
    stages = [("loads", 0.25), ("loads", 0.75)]
    for stage, fraction in stages:
        parts[0].starting("cache", stage=stage, fraction=fraction)
        until(lambda: (0, stage, fraction) in told[-1], "the stage")  # noqa: B023 - looked at in this round
    for part in parts:
        part.ready("cache")
    assert waiting.error() is None
    assert told[0] == ((0, "", None), (1, "", None))


def test_what_a_progress_raises_ends_the_wait(server: EngineWorkerQueue) -> None:
    engine = Readiness(server)

    def progress(lacking: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.wait("cache", timeout=LIMIT_S, progress=progress)
    until(lambda: engine.statistics()["waiting"] == [], "the end of the wait")


def test_a_part_that_leaves_gives_up_its_waits(server: EngineWorkerQueue) -> None:
    with EngineWorkerQueue(server.address, num_client=2, client_id=0) as queue:
        worker = Readiness(queue)
        worker.starting("worker")
        waiting = Background(lambda: worker.wait("cache", timeout=LIMIT_S))
        until(lambda: worker.statistics()["waits"] == 1, "the wait")
        worker.leave()
        assert isinstance(waiting.error(), RequestCancelledError)
        with pytest.raises(ProtocolViolationError, match="no part yet"):
            worker.beat()
        worker.ready("worker")
        assert [part.incarnation for part in worker.health() if part.component == "worker"] == [2]


def test_the_cache_queue_has_readiness_too() -> None:
    with EngineCacheQueue(("127.0.0.1", 0), is_server=True, num_client=1) as server:
        engine = Readiness(server)
        engine.declare([("transfer", 1)])
        with EngineCacheQueue(server.address, num_client=1, client_id=0) as queue:
            part = Readiness(queue)
            part.ready("transfer")
            part.beat()
            engine.check("transfer")
            assert engine.health()[0].age_s is not None


def test_a_part_without_the_shared_words_beats_by_calls(server: EngineWorkerQueue) -> None:
    with EngineWorkerQueue(server.address, num_client=2, client_id=0) as queue:
        assert queue._page is not None
        queue._page.close()  # as for a process on another machine
        queue._page = None
        part = Readiness(queue, limit=0.3)
        part.ready("cache", 0)
        assert part._loop._word == -1
        until(lambda: health(server, 0) == "stuck", "the stall")
        until(lambda: _beats(part) == "ready", "the recovery")
    with pytest.raises(ClosedError):
        part.beat()


def test_bad_input_changes_nothing(server: EngineWorkerQueue, parts: list[Readiness]) -> None:
    engine = Readiness(server)
    engine.declare(COMPONENTS)
    before = engine.statistics()
    wrong: list[tuple[type[FdcommError], Callable[[], object]]] = [
        (ConfigError, lambda: engine.declare([("cache", 3)])),
        (ConfigError, lambda: engine.declare([("cache", 2, "worker")])),
        (ConfigError, lambda: engine.declare([("cache", 2, ["worker"]), ("worker", 1, ["cache"])])),
        (ConfigError, lambda: engine.declare([("cache", 10_000)])),
        (ConfigError, lambda: engine.declare("cache")),  # type: ignore[arg-type]
        (ConfigError, lambda: engine.wait("nothing")),
        (ConfigError, lambda: engine.wait([])),
        (ConfigError, lambda: engine.wait("cache", timeout=-1)),
        (ConfigError, lambda: engine.mirror("nothing", "cache_ready_signal")),
        (SignalNotFoundError, lambda: engine.mirror("cache", "no_such_signal", suffix="readiness-faults")),
        (ConfigError, lambda: parts[0].starting("nothing")),
        (ConfigError, lambda: parts[0].starting("cache", 2)),
        (ConfigError, lambda: parts[0].starting("cache", fraction=1.5)),
        (ConfigError, lambda: parts[0].ready("cache", limit=0)),
        (ConfigError, lambda: Readiness(server, limit=0)),
        (ProtocolViolationError, parts[0].beat),
        (ProtocolViolationError, lambda: parts[0].failed("no part")),
        (ProtocolViolationError, parts[0].leave),
        (ProtocolViolationError, lambda: server._act("readiness", "join")),
        (CommTimeoutError, lambda: engine.check("cache", "worker")),
    ]
    for kind, call in wrong:
        with pytest.raises(kind):
            call()
    assert engine.statistics() == {**before, "changes": before["changes"] + 1, "waits": 1}  # the check is a wait
    parts[0].starting("cache")
    for other in (server, parts[1]._queue):
        with pytest.raises(DuplicateRankError):
            Readiness(other).ready("cache", 0)
    with pytest.raises(ProtocolViolationError, match="make another one"):
        parts[0].starting("worker", 0)
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=1) as empty:
        with pytest.raises(ConfigError, match="declare"):
            Readiness(empty).health()
        with pytest.raises(ConfigError, match="declare"):
            Readiness(empty).wait("cache")


def test_a_mirror_shows_the_flags_and_its_loss_hurts_nobody(
    server: EngineWorkerQueue, parts: list[Readiness], tmp_path: Any
) -> None:
    np = pytest.importorskip("numpy")
    from fdcomm import IPCSignal

    engine, folder = Readiness(server), str(tmp_path)
    each = IPCSignal("cache_ready_signal", np.zeros(2, np.int32), np.int32, suffix=7, directory=folder)
    whole = IPCSignal("launched_cache_manager_signal", np.zeros(1, np.int32), np.int32, suffix=7, directory=folder)
    engine.mirror("cache", "cache_ready_signal", 7, directory=folder)
    engine.mirror("cache", "launched_cache_manager_signal", 7, directory=folder)

    def flags() -> tuple[list[int], list[int]]:
        assert each.value is not None
        assert whole.value is not None
        return list(each.value), list(whole.value)

    parts[1].ready("cache")
    assert flags() == ([0, 1], [0])
    parts[0].ready("cache")
    assert flags() == ([1, 1], [1])
    parts[1].withdraw("reloads")
    assert flags() == ([1, 0], [0])
    parts[1].ready()
    parts[0]._queue._release(goodbye=False)
    until(lambda: flags() == ([0, 1], [0]), "the loss is shown")
    each.clear()
    parts[1].withdraw("reloads")
    problems = {mirror["name"]: mirror["problem"] for mirror in engine.statistics()["mirrors"]}
    assert ["mirror it again" in problem for problem in problems.values()] == [True, False]
    with IPCSignal("cache_ready_signal", np.full(2, 9, np.int32), np.int32, suffix=7, directory=folder) as again:
        engine.mirror("cache", "cache_ready_signal", 7, directory=folder)
        assert again.value is not None
        assert list(again.value) == [0, 0]
    whole.clear()


def test_asyncio_waits_and_cancels_in_the_host(server: EngineWorkerQueue, parts: list[Readiness]) -> None:
    async def main() -> None:
        async with AsyncReadiness(server) as engine:
            task = asyncio.create_task(engine.wait("cache", timeout=LIMIT_S))
            view = await engine.statistics()
            while not view["waiting"]:
                view = await engine.watch(view, timeout=0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while view["waiting"]:
                view = await engine.watch(view, timeout=0.05)
            with pytest.raises(CommTimeoutError):
                await engine.check("cache")
            waiting = asyncio.create_task(engine.wait(["cache"], timeout=LIMIT_S))
            for part in parts:
                await asyncio.to_thread(part.ready, "cache")
            await waiting
            assert [part.health for part in await engine.health()] == ["ready", "ready", "away"]

    asyncio.run(main())
