"""Each method of EngineCacheQueue: what FastDeploy's callers pass and get, at every size, replica and instance."""

from __future__ import annotations

from enum import Enum

import pytest

from fdcomm import CommTimeoutError, EngineCacheQueue
from tests.parity.worlds import LIMIT_S, World

Cache = World[EngineCacheQueue]


class Status(Enum):
    """As FastDeploy's CacheStatus: items carry it."""

    SWAP2GPU = 1
    GPU2STORAGE = 2


SWAP = (Status.SWAP2GPU, "task", [1, 2], [3, 4], [5, 6])


def _drained(cache: Cache) -> None:
    for rank in cache.ranks:
        while rank.get_transfer_task() != (None, False):
            pass


def test_put_transfer_task(cache: Cache) -> None:
    """Several tasks may be queued, also while some rank is in the middle of them."""
    assert cache.engine.put_transfer_task(SWAP, timeout=0) is None  # type: ignore[func-returns-value]
    assert cache.ranks[0].get_transfer_task()[0] == SWAP
    cache.engine.put_transfer_task((Status.GPU2STORAGE, {"keys": [1]}), timeout=0)
    assert cache.other.empty()
    rest = [[rank.get_transfer_task()[0] for _ in range(2)] for rank in cache.ranks[1:]]
    assert rest == [[SWAP, (Status.GPU2STORAGE, {"keys": [1]})]] * (cache.place.tp - 1)
    assert cache.ranks[0].get_transfer_task()[0] == (Status.GPU2STORAGE, {"keys": [1]})


def test_get_transfer_task(cache: Cache) -> None:
    assert [rank.get_transfer_task() for rank in cache.ranks] == [(None, False)] * cache.place.tp
    cache.engine.put_transfer_task(SWAP, timeout=LIMIT_S)
    got = [rank.get_transfer_task() for rank in cache.ranks]
    assert got == [(SWAP, number == cache.place.tp - 1) for number in range(cache.place.tp)]
    assert all(type(read_finish) is bool for _, read_finish in got)
    assert cache.ranks[0].get_transfer_task() == (None, False)
    with pytest.raises(CommTimeoutError):
        cache.ranks[0].get_transfer_task(timeout=0.001)


def test_clear_transfer_task(cache: Cache) -> None:
    cache.engine.put_transfer_task(1, timeout=LIMIT_S)
    cache.engine.put_transfer_task(2, timeout=LIMIT_S)
    assert cache.engine.clear_transfer_task() == ()
    assert cache.engine.empty()
    cache.engine.put_transfer_task("started", timeout=LIMIT_S)
    cache.engine.put_transfer_task("not started", timeout=LIMIT_S)
    cache.ranks[-1].get_transfer_task()
    started = cache.place.tp > 1  # by one rank of several
    assert cache.engine.clear_transfer_task() == ((cache.place.tp - 1,) if started else ())
    assert cache.engine.transfer_task_queue == (["started"] if started else [])
    _drained(cache)


def test_put_transfer_done_signal(cache: Cache) -> None:
    assert cache.ranks[0].put_transfer_done_signal(SWAP) is None  # type: ignore[func-returns-value]
    assert cache.other.get_transfer_done_signal() is None
    assert cache.engine.get_transfer_done_signal() == SWAP
    assert cache.engine.get_transfer_done_signal() is None


def test_get_transfer_done_signal(cache: Cache) -> None:
    assert cache.engine.get_transfer_done_signal() is None
    for number, rank in enumerate(cache.ranks):  # as for reads from storage: one result of each rank
        rank.put_transfer_done_signal((Status.GPU2STORAGE, number))
    results = [cache.engine.get_transfer_done_signal() for _ in cache.ranks]
    assert results == [(Status.GPU2STORAGE, number) for number in range(cache.place.tp)]
    assert cache.engine.get_transfer_done_signal() is None


def test_empty(cache: Cache) -> None:
    everybody = [cache.engine, cache.server, *cache.ranks]
    assert all(queue.empty() is True for queue in everybody)
    cache.engine.put_transfer_task(1, timeout=LIMIT_S)
    assert all(queue.empty() is False for queue in everybody)
    _drained(cache)
    assert all(queue.empty() is True for queue in everybody)


def test_result_queue_empty(cache: Cache) -> None:
    assert cache.engine.result_queue_empty() is True
    cache.ranks[-1].put_transfer_done_signal("result")
    assert cache.engine.result_queue_empty() is False
    assert cache.engine.get_transfer_done_signal() == "result"
    assert cache.engine.result_queue_empty() is False  # taken, and perhaps still being handled
    assert cache.engine.get_transfer_done_signal() is None
    assert cache.engine.result_queue_empty() is True


def test_results_are_for_one_taker(cache: Cache) -> None:
    """A taker that has not come back is not hidden by another one that has."""
    for number in range(2):
        cache.ranks[0].put_transfer_done_signal(number)
    taken = [queue.get_transfer_done_signal() for queue in (cache.engine, cache.ranks[0])]
    assert taken == [0, 1]
    assert cache.engine.get_transfer_done_signal() is None
    assert cache.engine.result_queue_empty() is False
    assert cache.ranks[0].get_transfer_done_signal() is None
    assert cache.engine.result_queue_empty() is True
