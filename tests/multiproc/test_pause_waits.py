"""Waits for a pause and a resume on a real host: how they go is told, and they can be given up; clears; asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from fdcomm import CommTimeoutError, ConfigError, EngineCacheQueue, PauseControl, PauseStatistics, RequestCancelledError
from fdcomm.aio import AsyncPauseControl
from models.dispatch_trace import accept_file
from tests.conformance.waiting import Background, until
from tests.faults.remote import LIMIT_S

FAST_S = 0.01


class Group:
    """Two ranks in this process, and two clients with a handle each."""

    def __init__(self, server: EngineCacheQueue, undo: ExitStack) -> None:
        def open_(rank: int, role: Any = None) -> EngineCacheQueue:
            return undo.enter_context(EngineCacheQueue(server.address, num_client=2, client_id=rank, role=role))

        self.queues = [open_(rank) for rank in range(2)]
        self.ranks = [undo.enter_context(PauseControl(queue, rank=True)) for queue in self.queues]
        self.server = server
        self.one, self.two = PauseControl(server), PauseControl(open_(0, "producer"))


@pytest.fixture
def group(tmp_path: object) -> Iterator[Group]:
    trace = f"{tmp_path}/host.ndjson"
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=trace) as server, ExitStack() as undo:
        yield Group(server, undo)
    for verdict in accept_file(trace, only=("pause",)):
        assert verdict.accepted, str(verdict)


def test_progress_tells_how_many_jobs_run_in_each_rank(group: Group) -> None:
    jobs = [group.ranks[0].admit(), group.ranks[0].admit(), group.ranks[1].admit()]
    told: list[dict[int, int]] = []
    callers: set[int] = set()

    def progress(seen: PauseStatistics) -> None:
        callers.add(threading.get_ident())
        assert seen.phase == "pause"
        assert set(seen.running) <= set(seen.missing)
        if seen.paused or set(seen.running) != set(seen.missing):
            return  # the call is about to return; or a rank's thread is slow to tell
        assert seen.waiting == 1
        if not told or told[-1] != seen.running:
            told.append(dict(seen.running))
            jobs.pop().done()

    number = group.one.pause(progress=progress, every=FAST_S, timeout=LIMIT_S)
    assert callers == {threading.get_ident()}
    # Each number is told that stays: a job ends only after it was told.
    assert told == [{0: 2, 1: 1}, {0: 2}, {0: 1}]
    seen = group.one.statistics()
    assert (seen.paused, seen.missing, dict(seen.running)) == (True, (), {})
    group.one.resume(number)


def test_progress_of_a_resume_tells_what_it_waits_for(group: Group) -> None:
    number = group.one.pause()
    holding = group.two.held(number)
    holding.__enter__()
    seen_holders: list[int] = []

    def progress(seen: PauseStatistics) -> None:
        seen_holders.append(seen.holders)
        if len(seen_holders) == 2:
            holding.__exit__(None, None, None)

    with pytest.raises(ConfigError, match="every"):
        group.one.resume(progress=progress, every=0)
    group.one.resume(number, progress=progress, every=FAST_S, timeout=LIMIT_S)
    assert seen_holders[:2] == [1, 1]
    assert group.one.statistics().behind == ()


def test_an_admission_tells_what_it_waits_for(group: Group) -> None:
    rank, number = group.ranks[0], group.one.pause(timeout=LIMIT_S)
    told: list[PauseStatistics] = []

    def progress(seen: PauseStatistics) -> None:
        told.append(seen)
        if len(told) == 2:
            group.one.resume(number)

    rank.admit(timeout=LIMIT_S, progress=progress, every=FAST_S).done()
    assert [(seen.paused, seen.live) for seen in told] == [(True, (0, 1))] * 2

    def stop(seen: PauseStatistics) -> None:
        raise KeyError(seen.phase)

    rank.admit(progress=stop, every=FAST_S).done()  # nobody waits, and nothing is told
    with group.one.paused():
        with pytest.raises(KeyError, match="pause"):
            rank.admit(progress=stop, every=FAST_S)
        with pytest.raises(CommTimeoutError):
            rank.admit(progress=told.append, every=2.0, timeout=FAST_S)
    assert rank.inflight == 0


def test_a_parked_job_tells_that_it_is(group: Group) -> None:
    job = group.ranks[0].admit()
    pausing = Background(lambda: group.one.pause("keep", timeout=LIMIT_S))
    until(lambda: group.two.statistics().missing == (0,), "the job is waited for")
    number: list[int] = []

    def progress() -> None:
        if not number:
            number.append(pausing.value())
            group.one.resume(number[0])

    while not number:  # until the order has come
        job.checkpoint(LIMIT_S, progress=progress, every=FAST_S)
    job.done()


def test_a_pause_that_is_cancelled_tells_who_has_not_opened(group: Group) -> None:
    job, told = group.ranks[0].admit(), list[PauseStatistics]()
    pausing = Background(lambda: group.one.pause(timeout=LIMIT_S))
    until(lambda: group.two.statistics().behind == (), "the ranks have shut")
    assert group.two.cancel_pause(progress=told.append, every=FAST_S)
    assert not group.two.cancel_pause(progress=told.append)
    assert pausing.error() is not None
    assert all(seen.phase == "run" for seen in told)
    job.done()


@pytest.mark.parametrize("hold", [False, True])
def test_a_progress_that_raises_gives_the_wait_up_and_leaves_the_order(group: Group, hold: bool) -> None:
    job = group.ranks[1].admit()

    def progress(seen: PauseStatistics) -> None:
        raise KeyError(*seen.missing)

    def pause() -> None:
        if hold:
            with group.one.paused(progress=progress, every=FAST_S):
                raise AssertionError("the pause has not been reached")
        group.one.pause(progress=progress, every=FAST_S)

    with pytest.raises(KeyError, match="1"):
        pause()
    seen = group.one.statistics()
    # What pauses for a block cancels the pause that it does not reach: nobody would resume.
    assert (seen.phase, seen.waiting, seen.holders) == ("run" if hold else "pause", 0, 0)
    job.done()
    group.two.pause(timeout=LIMIT_S)
    group.two.resume(timeout=LIMIT_S)


def test_another_thread_gives_waits_up(group: Group) -> None:
    assert group.one.give_up() == 0
    job = group.ranks[0].admit()
    mine = [Background(lambda: group.one.pause(timeout=LIMIT_S))]
    until(lambda: group.one.statistics().phase == "pause", "the pause")
    mine.append(Background(lambda: group.one.resume(timeout=None)))
    theirs = Background(lambda: group.two.pause(timeout=LIMIT_S))
    until(lambda: group.one.statistics().waiting == 3, "all wait")
    assert group.one.give_up() == 2
    for call in mine:
        error = call.error()
        assert isinstance(error, RequestCancelledError)
        assert error.operation in ("pause", "resume")
    assert theirs.is_running()
    job.done()
    with group.two.held(theirs.value()):
        resuming = Background(lambda: group.one.resume(timeout=None))
        until(lambda: group.one.statistics().waiting == 1, "the resume waits")
        assert group.one.give_up() == 1
        assert isinstance(resuming.error(), RequestCancelledError)
        assert group.one.statistics().phase == "pause"
    group.two.resume()
    group.ranks[0].admit(timeout=0).done()


# -- clear -----------------------------------------------------------------------------------------------------------


def _clear(group: Group) -> str:
    assert group.one.statistics().paused
    assert [rank.inflight for rank in group.ranks] == [0, 0]
    group.queues[0].clear_transfer_task()
    return "cleared"


def test_a_clear_waits_for_jobs_withdraws_tasks_and_lets_the_group_run(group: Group) -> None:
    group.server.put_transfer_task({"task": 1}, timeout=LIMIT_S)
    job = group.ranks[0].admit()
    clearing = Background(lambda: group.one.clear(lambda: _clear(group), timeout=LIMIT_S))
    until(lambda: group.two.statistics().missing == (0,), "the clear waits for the job")
    job.done()
    assert clearing.value() == "cleared"
    assert group.two.statistics().phase == "run"
    assert [queue.get_transfer_task()[0] for queue in group.queues] == [None, None]


def test_a_clear_leaves_a_pause_in_force(group: Group) -> None:
    number = group.two.pause()
    assert group.one.clear(lambda: _clear(group)) == "cleared"
    assert group.one.statistics().paused
    with pytest.raises(CommTimeoutError):
        group.ranks[0].admit(timeout=0)
    with group.two.held(number):
        assert group.two.clear(lambda: _clear(group)) == "cleared"
    with group.two.paused():
        assert group.two.clear(lambda: _clear(group)) == "cleared"
    assert group.one.statistics().phase == "run"


def test_two_clears_overlap_and_the_last_lets_the_group_run(group: Group) -> None:
    go = threading.Event()

    def slow() -> str:
        assert go.wait(LIMIT_S)
        return _clear(group)

    first = Background(lambda: group.one.clear(slow, timeout=LIMIT_S))
    until(lambda: group.two.statistics().holders == 1, "the first clears")
    second = Background(lambda: group.two.clear(slow, timeout=LIMIT_S))
    until(lambda: group.two.statistics().holders == 2, "both clear")
    resuming = Background(lambda: group.two.resume(timeout=LIMIT_S))
    until(lambda: group.two.statistics().waiting == 1, "the resume waits for both")
    go.set()
    assert [first.value(), second.value(), resuming.value()] == ["cleared", "cleared", None]
    assert group.one.statistics().phase == "run"


def test_a_clear_that_fails_lets_the_group_run(group: Group) -> None:
    def work() -> None:
        raise ValueError("no memory to give back")

    with pytest.raises(ValueError, match="give back"):
        group.one.clear(work)
    seen = group.one.statistics()
    assert (seen.phase, seen.holders) == ("run", 0)
    job = group.ranks[0].admit()
    with pytest.raises(CommTimeoutError):
        group.one.clear(work, timeout=0)
    assert group.one.cancel_pause()
    job.done()


# -- asyncio ---------------------------------------------------------------------------------------------------------


def test_asyncio_gives_up_what_is_cancelled_at_once(group: Group) -> None:
    async def program() -> None:
        async with AsyncPauseControl(group.server) as api:
            jobs = [group.ranks[0].admit(), group.ranks[1].admit()]
            told: list[dict[int, int]] = []

            def progress(seen: PauseStatistics) -> None:
                if seen.paused or len(seen.running) != len(seen.missing):
                    return  # as above
                told.append(dict(seen.running))
                if jobs:
                    jobs.pop(0).done()

            await api.resume(await api.pause(progress=progress, every=FAST_S, timeout=LIMIT_S))
            assert told[0] == {0: 1, 1: 1}
            job = group.ranks[0].admit()
            tasks = [asyncio.create_task(api.pause(timeout=None)) for _ in range(12)]  # more than there are threads
            while (await api.statistics()).waiting < 8:
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            assert all(
                isinstance(r, asyncio.CancelledError) for r in await asyncio.gather(*tasks, return_exceptions=True)
            )
            assert (await api.statistics()).waiting == 0
            waiting = asyncio.create_task(api.pause(timeout=None))
            while (await api.statistics()).waiting < 1:
                await asyncio.sleep(0)
            assert await api.give_up() == 1
            with pytest.raises(RequestCancelledError):
                await waiting
            job.done()

            async def work() -> str:
                return _clear(group)

            assert await api.clear(work) == "cleared"
            assert (await api.statistics()).phase == "pause"  # ordered by the calls that were cancelled
            await api.resume()
            assert await api.clear(work) == "cleared"
            assert (await api.statistics()).phase == "run"

    asyncio.run(asyncio.wait_for(program(), LIMIT_S))


def test_asyncio_lets_go_of_a_pause_that_is_reached_while_it_is_cancelled(group: Group) -> None:
    async def program() -> None:
        async with AsyncPauseControl(group.server) as api:
            for turns in range(40):

                async def work() -> None:
                    async with api.paused(timeout=LIMIT_S):
                        await asyncio.sleep(0)

                task = asyncio.create_task(work())
                for _ in range(turns * 4):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                seen = await api.statistics()
                assert (seen.holders, seen.waiting, seen.phase) == (0, 0, "run"), turns

    asyncio.run(asyncio.wait_for(program(), LIMIT_S))
