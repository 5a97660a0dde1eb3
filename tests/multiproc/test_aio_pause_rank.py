"""A rank whose engine runs in an asyncio loop: jobs are admitted, parked and ended without threads that wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fdcomm import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    EngineCacheQueue,
    HostLostError,
    JobCancelledError,
    PauseControl,
    PauseStatistics,
    RankError,
)
from fdcomm.aio import AsyncJob, AsyncPauseControl
from models.dispatch_trace import accept_file
from tests.conformance.waiting import Background
from tests.faults.remote import LIMIT_S

pytestmark = pytest.mark.multiproc
FAST_S = 0.01


class Group:
    """A rank in asyncio, and a client with a handle of its own."""

    def __init__(self, server: EngineCacheQueue, queue: EngineCacheQueue) -> None:
        self.server, self.queue = server, queue
        self.api = PauseControl(server)

    def run(self, program: Callable[[AsyncPauseControl], Coroutine[Any, Any, None]]) -> None:
        """Run a program with the rank's control; no job and no thread of it is left."""

        async def main() -> None:
            async with AsyncPauseControl(self.queue, rank=True) as rank:
                await program(rank)
                assert rank.inflight == 0

        asyncio.run(asyncio.wait_for(main(), LIMIT_S))
        assert _threads() == []


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("fdcomm pause")]


@pytest.fixture
def group(tmp_path: object) -> Iterator[Group]:
    trace = f"{tmp_path}/host.ndjson"
    with EngineCacheQueue(("127.0.0.1", 0), is_server=True, num_client=1, trace=trace) as server:
        with EngineCacheQueue(server.address, num_client=1, client_id=0) as queue:
            yield Group(server, queue)
    for verdict in accept_file(trace, only=("pause",)):
        assert verdict.accepted, str(verdict)


async def _in_turn(what: str, look: Callable[[], bool]) -> None:
    """Let the loop go on until a look finds it so."""
    for _ in range(100_000):
        if look():
            return
        await asyncio.sleep(0.0001)
    raise AssertionError(what)


@asynccontextmanager
async def _paused(group: Group, mode: Any = "drain") -> AsyncIterator[None]:
    await asyncio.to_thread(group.api.pause, mode, timeout=LIMIT_S)
    yield
    await asyncio.to_thread(group.api.resume, timeout=LIMIT_S)


def test_a_job_needs_no_thread_and_a_pause_waits_for_it(group: Group) -> None:
    async def program(rank: AsyncPauseControl) -> None:
        async with rank.admit(timeout=0) as job:
            assert (rank.inflight, job.cancelled) == (1, False)
        other = await rank.admit()
        assert _threads() == []
        pausing = asyncio.create_task(asyncio.to_thread(group.api.pause, timeout=LIMIT_S))
        while await _admits(rank):  # until the order has come
            await asyncio.sleep(0)
        assert not pausing.done()
        with pytest.raises(CommTimeoutError):
            await rank.admit(timeout=FAST_S)
        await other.done()
        await other.done()
        await pausing
        await rank.resume()
        with pytest.raises(ConfigError):
            rank.admit(timeout=True)
        with pytest.raises(ConfigError):
            rank.admit(every=0)

    group.run(program)
    assert group.api.statistics().live == ()


def test_any_number_of_jobs_waits_and_calls_go_on_beside_them(group: Group) -> None:
    async def program(rank: AsyncPauseControl) -> None:
        number = await rank.pause(timeout=LIMIT_S)
        told: list[PauseStatistics] = []
        loops: set[int] = set()

        def progress(seen: PauseStatistics) -> None:
            loops.add(threading.get_ident())
            told.append(seen)

        async def work() -> int:
            async with rank.admit(timeout=LIMIT_S, progress=progress, every=5 * FAST_S):
                return rank.inflight

        jobs = [asyncio.create_task(work()) for _ in range(50)]
        await _in_turn("progress is told", lambda: len(told) > 50)
        assert all(seen.paused for seen in told)
        assert loops == {threading.get_ident()}
        await rank.resume(number, timeout=LIMIT_S)
        assert min(await asyncio.gather(*jobs)) == 1

        def stop(seen: PauseStatistics) -> None:
            raise KeyError(seen.phase)

        async with _paused(group):
            with pytest.raises(KeyError, match="pause"):
                await rank.admit(progress=stop, every=FAST_S)

    group.run(program)


@pytest.mark.parametrize("paused", [False, True])
def test_a_job_that_is_cancelled_at_any_await_is_not_counted(group: Group, paused: bool) -> None:
    async def program(rank: AsyncPauseControl) -> None:
        for turns in range(30):
            if paused:
                await rank.pause(timeout=LIMIT_S)

            async def work() -> None:
                async with rank.admit(timeout=LIMIT_S) as job:
                    await job.checkpoint()
                    await asyncio.sleep(0)

            task = asyncio.create_task(work())
            going_on = asyncio.create_task(rank.resume(timeout=LIMIT_S))
            for _ in range(turns):
                await asyncio.sleep(0 if turns % 2 else 0.0002)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await going_on
            assert rank.inflight == 0, turns
            await rank.resume(await rank.pause(timeout=LIMIT_S))

    group.run(program)


def test_jobs_park_and_go_on_or_end_where_they_are_parked(group: Group) -> None:
    async def program(rank: AsyncPauseControl) -> None:
        told: list[None] = []

        async def parked(timeout: float = LIMIT_S) -> None:
            async with rank.admit() as job:
                while not rank._control._rank("test")._gate.shut:
                    await asyncio.sleep(0)
                await job.checkpoint(timeout, progress=lambda: told.append(None), every=FAST_S)

        jobs = [asyncio.create_task(parked()) for _ in range(3)]
        await asyncio.sleep(0)
        async with _paused(group, "keep"):
            await _in_turn("progress is told", lambda: len(told) > 3)
            jobs[0].cancel()
            await asyncio.gather(jobs[0], return_exceptions=True)
            assert (rank.inflight, jobs[1].done()) == (2, False)
        await asyncio.gather(*jobs[1:])
        late = asyncio.create_task(parked(FAST_S))
        await asyncio.sleep(0)
        async with _paused(group, "keep"):
            with pytest.raises(CommTimeoutError, match="longer"):
                await late
            assert group.api.statistics().paused

    group.run(program)


def test_a_job_is_told_to_end(group: Group) -> None:
    async def program(rank: AsyncPauseControl) -> None:
        job = await rank.admit()
        pausing = asyncio.create_task(rank.pause("abort", timeout=LIMIT_S))
        await _in_turn("the order", lambda: job.cancelled)
        with pytest.raises(JobCancelledError):
            await job.checkpoint()
        await job.done()
        await rank.resume(await pausing)
        with pytest.raises(ClosedError):
            await job.checkpoint()

    group.run(program)


def test_a_rank_leaves_with_its_last_job_and_waits_are_refused(group: Group) -> None:
    async def main() -> AsyncJob:
        rank = AsyncPauseControl(group.queue, rank=True)
        job = await rank.admit()
        pausing = asyncio.create_task(asyncio.to_thread(group.api.pause, timeout=LIMIT_S))
        await _in_turn("the pause is ordered", lambda: rank._control._rank("test")._gate.shut)
        waiting = asyncio.create_task(_job_of(rank))
        await asyncio.sleep(0)
        await rank.aclose()
        await rank.aclose()
        with pytest.raises(ClosedError):
            await waiting
        assert not pausing.done()
        await job.done()  # there is no thread for it any more
        await pausing
        return job

    asyncio.run(asyncio.wait_for(main(), LIMIT_S))
    assert (_threads(), group.api.statistics().live) == ([], ())
    group.api.resume()
    client = AsyncPauseControl(group.server)
    with pytest.raises(RankError, match="rank=True"):
        client.admit()
    asyncio.run(client.aclose())


async def _admits(rank: AsyncPauseControl) -> bool:
    try:
        async with rank.admit(timeout=0):
            return True
    except CommTimeoutError:
        return False


async def _job_of(rank: AsyncPauseControl) -> None:
    async with rank.admit(timeout=None):
        pass


def test_what_waits_hears_that_the_host_is_gone(tmp_path: object) -> None:
    with EngineCacheQueue(("127.0.0.1", 0), is_server=True, num_client=1) as server:
        with EngineCacheQueue(server.address, num_client=1, client_id=0) as queue:

            async def main() -> None:
                async with AsyncPauseControl(queue, rank=True) as rank:
                    await rank.pause(timeout=LIMIT_S)
                    waiting = asyncio.create_task(_job_of(rank))
                    await asyncio.sleep(0)
                    ending = Background(server.close)
                    with pytest.raises(HostLostError):
                        await waiting
                    await asyncio.to_thread(ending.value)

            asyncio.run(asyncio.wait_for(main(), LIMIT_S))
    assert _threads() == []
