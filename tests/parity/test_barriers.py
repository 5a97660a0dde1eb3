"""Every named barrier, under FastDeploy's name, with what a barrier has there and what ``threading.Barrier`` has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fdcomm import BarrierBrokenError, BarrierMismatchError, CommTimeoutError, EngineCacheQueue, EngineWorkerQueue
from fdcomm.barrier import RankBarrier
from tests.conformance.waiting import Background, until
from tests.parity.rows import members
from tests.parity.worlds import LIMIT_S, World

Worker = World[EngineWorkerQueue]


def _round(world: World[Any], name: str, **options: Any) -> list[int]:
    with ThreadPoolExecutor(world.place.tp) as pool:
        waits = [pool.submit(getattr(rank, name).wait, LIMIT_S, **options) for rank in world.ranks]
        return [wait.result(LIMIT_S) for wait in waits]


def _works(world: World[Any], full_name: str) -> None:
    name = full_name.partition(".")[2]
    barrier = getattr(world.engine, name)
    assert isinstance(barrier, RankBarrier)
    assert barrier.parties == world.place.tp
    assert (barrier.n_waiting, barrier.broken) == (0, False)
    before = barrier.generation
    for _ in range(2):
        assert sorted(_round(world, name)) == list(range(world.place.tp))
        for rank in world.ranks:
            getattr(rank, name).reset()  # as FastDeploy's loops do after a wait; it changes nothing
    assert barrier.generation == before + 2
    assert getattr(world.other, name).generation == 0


@pytest.mark.parametrize("name", members("barrier", "EngineWorkerQueue"))
def test_a_barrier(worker: Worker, name: str) -> None:
    _works(worker, name)


@pytest.mark.parametrize("name", members("barrier", "EngineCacheQueue"))
def test_a_barrier_of_the_cache_queue(cache: World[EngineCacheQueue], name: str) -> None:
    _works(cache, name)


def test_wait(worker: Worker) -> None:
    """Nobody passes before the last rank has come; a wait that gives up takes its arrival back."""
    barriers = [rank.finish_request_barrier for rank in worker.ranks]
    if worker.place.tp == 1:
        assert barriers[0].wait() == 0
        return
    first = [Background(lambda b=barrier: b.wait(timeout=LIMIT_S)) for barrier in barriers[:-1]]  # type: ignore[misc]
    until(lambda: worker.engine.finish_request_barrier.n_waiting == worker.place.tp - 1)
    assert all(wait.is_running() for wait in first)
    assert worker.engine.finish_request_barrier.missing == (worker.place.tp - 1,)
    assert barriers[-1].wait(LIMIT_S) == worker.place.tp - 1
    assert sorted(wait.value() for wait in first) == list(range(worker.place.tp - 1))
    with pytest.raises(CommTimeoutError) as caught:
        barriers[0].wait(0.01)
    assert caught.value.missing == tuple(range(1, worker.place.tp))
    assert isinstance(caught.value, TimeoutError)
    assert worker.engine.finish_request_barrier.n_waiting == 0
    assert sorted(_round(worker, "finish_request_barrier", label="again")) == list(range(worker.place.tp))


def test_abort(worker: Worker) -> None:
    """An abort ends the waits, and refuses new ones until a reset; through any handle."""
    barrier: Any = worker.engine.worker_process_tp_barrier
    waits = [
        Background(lambda r=rank: r.worker_process_tp_barrier.wait(LIMIT_S))  # type: ignore[misc]
        for rank in worker.ranks[:-1]
    ]
    until(lambda: barrier.n_waiting == len(waits))
    assert barrier.abort() is None
    assert [type(wait.error()) for wait in waits] == [BarrierBrokenError] * len(waits)
    assert [barrier.broken] == [True]
    with pytest.raises(BarrierBrokenError, match=r"reset\(\)"):
        worker.ranks[-1].worker_process_tp_barrier.wait(LIMIT_S)
    assert not worker.engine.finish_request_barrier.broken  # this one only
    assert barrier.reset() is None
    assert [barrier.broken] == [False]
    assert sorted(_round(worker, "worker_process_tp_barrier")) == list(range(worker.place.tp))


def test_reset_after_a_round(worker: Worker) -> None:
    """The reset that FastDeploy's rank 0 does after a wait does not break ranks that wait in the next round."""
    ranks = worker.ranks
    for _ in range(3):
        _round(worker, "finish_send_cache_barrier")
        early = [
            Background(lambda r=rank: r.finish_send_cache_barrier.wait(LIMIT_S))  # type: ignore[misc]
            for rank in ranks[1:]
        ]
        until(lambda: worker.engine.finish_send_cache_barrier.n_waiting == len(ranks) - 1)
        ranks[0].finish_send_cache_barrier.reset()
        ranks[0].finish_send_cache_barrier.wait(LIMIT_S)
        assert [wait.error() for wait in early] == [None] * len(early)


def test_different_labels(worker: Worker) -> None:
    """Ranks that wait for different things are told, and where each of them is."""
    if worker.place.tp == 1:
        return
    first = Background(lambda: worker.ranks[0].cache_info_barrier.wait(LIMIT_S, label="request 1"))
    until(lambda: worker.engine.cache_info_barrier.n_waiting == 1)
    with pytest.raises(BarrierMismatchError, match=r"'request 1'.*'request 2'|'request 2'.*'request 1'"):
        worker.ranks[1].cache_info_barrier.wait(LIMIT_S, label="request 2")
    assert isinstance(first.error(), BarrierMismatchError)
    assert sorted(_round(worker, "cache_info_barrier")) == list(range(worker.place.tp))


def test_transfer_ranks_that_part_are_told(cache: World[EngineCacheQueue]) -> None:
    """In the transfer loop some ranks wait at barrier3 and the others back at barrier0: FastDeploy's wait for ever."""
    if cache.place.tp == 1:
        return
    early = [
        Background(lambda r=rank: r.barrier3.wait(LIMIT_S))  # type: ignore[misc]
        for rank in cache.ranks[:-1]
    ]
    until(lambda: cache.engine.barrier3.n_waiting == len(early))
    with pytest.raises(BarrierMismatchError, match=r"barrier0.*barrier3|barrier3.*barrier0"):
        cache.ranks[-1].barrier0.wait(LIMIT_S)
    assert [type(wait.error()) for wait in early] == [BarrierMismatchError] * len(early)
    assert sorted(_round(cache, "barrier0")) == list(range(cache.place.tp))
