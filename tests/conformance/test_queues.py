"""Both queues do the same over every transport: in this process, and over AF_UNIX, TCP and ZeroMQ to a real host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from fdcomm import (
    BarrierBrokenError,
    BarrierMismatchError,
    CommTimeoutError,
    EngineCacheQueue,
    EngineWorkerQueue,
    FdcommError,
    PeerLostError,
)
from fdcomm.host.service import HostConfig, HostService, words_needed
from fdcomm.runtime import SYSTEM
from fdcomm.transports.inproc import InprocTransport
from tests.conformance.backends import LONG_S, NAMES, lose, through
from tests.conformance.waiting import Background, until

pytestmark = pytest.mark.multiproc

QUEUES: dict[str, Any] = {"worker": EngineWorkerQueue, "cache": EngineCacheQueue}
DEPTH = {"worker": 1, "cache": 8}
RANKS = 3


@dataclass
class Trio:
    """An engine's handle and three ranks; ``rank(r)`` opens another handle."""

    engine: Any
    ranks: list[Any]
    rank: Callable[[int], Any]


@contextmanager
def _trio(kind: str, transport: str) -> Iterator[Trio]:
    queue = QUEUES[kind]
    with ExitStack() as undo:
        service = None
        port = 0
        if transport == "inproc":
            config = HostConfig(RANKS, 1, DEPTH[kind], 1 << 20, kind)
            words = memoryview(bytearray(8 * words_needed(config))).cast("q")
            service = HostService(config, SYSTEM, words)
            undo.callback(service.shut_down)
        else:
            how = through(transport)
            server = queue(("0.0.0.0", 0), is_server=True, num_client=RANKS, depth=DEPTH[kind], transport=how)
            undo.callback(server.close)
            port = server.get_server_port()

        def rank(number: int, role: Any = None) -> Any:
            over: Any = through(transport) if service is None else InprocTransport(service)
            handle = queue(("0.0.0.0", port), num_client=RANKS, client_id=number, role=role, transport=over)
            undo.callback(handle.close)
            return handle

        yield Trio(rank(0, "producer"), [rank(number) for number in range(RANKS)], rank)


@pytest.fixture(params=NAMES)
def worker(request: pytest.FixtureRequest) -> Iterator[Trio]:
    """A worker queue over each transport."""
    with _trio("worker", request.param) as trio:
        yield trio


@pytest.fixture(params=NAMES)
def cache(request: pytest.FixtureRequest) -> Iterator[Trio]:
    """A cache queue over each transport."""
    with _trio("cache", request.param) as trio:
        yield trio


def _outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the type and the ranks of its error."""
    try:
        return call()
    except FdcommError as error:
        return type(error), error.missing


def test_cache_infos_reach_every_rank_once_and_in_order(worker: Trio) -> None:
    for number in range(3):
        worker.engine.put_cache_info([number], timeout=LONG_S)
        assert _outcome(lambda: worker.engine.put_cache_info(["early"], timeout=0)) == (CommTimeoutError, (0, 1, 2))
        for rank in worker.ranks:
            assert (rank.get_cache_info(), rank.get_cache_info()) == ([number], [])


def test_a_get_waits_for_its_item(worker: Trio) -> None:
    waits = [Background(lambda r=rank: r.get_connect_rdma_task(timeout=LONG_S)) for rank in worker.ranks]  # type: ignore[misc]
    worker.engine.put_connect_rdma_task("task", timeout=LONG_S)
    got = [wait.value() for wait in waits]
    assert [task for task, _ in got] == ["task"] * RANKS
    assert sorted(all_read for _, all_read in got) == [False, False, True]


def test_the_channels_do_not_wait_for_each_other(worker: Trio) -> None:
    """Each is full for itself."""
    worker.engine.put_tasks("batch", timeout=0)
    worker.engine.put_cache_info(["info"], timeout=0)
    worker.engine.put_connect_rdma_task("task", timeout=0)
    first = worker.ranks[0]
    assert first.get_connect_rdma_task() == ("task", False)
    assert first.get_cache_info() == ["info"]
    assert first.get_tasks() == (["batch"], False)
    assert worker.engine.client_read_flag == worker.engine.client_read_info_flag == [1, 0, 0]


def test_a_collect_waits_for_the_last_answer(worker: Trio) -> None:
    collect = Background(lambda: worker.engine.get_finished_req(timeout=LONG_S))
    for number, rank in enumerate(worker.ranks):
        assert collect.is_running()
        rank.put_finished_req([["id", "finished" if number else "read error"]])
    assert collect.value() == [["id", "read error"]]


def test_a_lost_rank_ends_the_round_that_waits_for_it(worker: Trio) -> None:
    for rank in worker.ranks:
        rank.put_finished_add_cache_task_req(["first"])
    assert worker.engine.get_finished_add_cache_task_req() == ["first"]
    for rank in worker.ranks[:2]:
        rank.put_finished_add_cache_task_req(["second"])
    lose(worker.ranks[2])
    assert _outcome(lambda: worker.engine.get_finished_add_cache_task_req(timeout=LONG_S)) == (PeerLostError, (2,))
    again = worker.rank(2)
    for rank in (*worker.ranks[:2], again):
        rank.put_finished_add_cache_task_req(["third"])
    assert worker.engine.get_finished_add_cache_task_req(timeout=LONG_S) == ["third"]


def test_transfer_tasks_stay_in_order_around_a_clear(cache: Trio) -> None:
    for number in range(4):
        cache.engine.put_transfer_task(number, timeout=0)
    assert [cache.ranks[0].get_transfer_task() for _ in range(2)] == [(0, False), (1, False)]
    assert cache.engine.task_sync_value.get() == 0b001
    assert cache.engine.clear_transfer_task() == (0,)
    cache.engine.put_transfer_task("next", timeout=0)
    assert [task for task, _ in iter(cache.ranks[0].get_transfer_task, (None, False))] == ["next"]
    for rank in cache.ranks[1:]:
        assert [task for task, _ in iter(rank.get_transfer_task, (None, False))] == [0, 1, "next"]
    assert cache.engine.empty()


def test_results_go_to_one_taker_each(cache: Trio) -> None:
    for number in range(6):
        cache.ranks[number % RANKS].put_transfer_done_signal(number)
    takers = [cache.engine, cache.ranks[0]]
    assert [takers[number % 2].get_transfer_done_signal() for number in range(6)] == list(range(6))
    assert not cache.engine.result_queue_empty()
    assert [taker.get_transfer_done_signal() for taker in takers] == [None, None]
    assert cache.engine.result_queue_empty()


def test_a_barrier_of_all_ranks(cache: Trio) -> None:
    for turn in range(3):
        waits = [Background(lambda r=rank: r.barrier2.wait(LONG_S)) for rank in cache.ranks[:-1]]  # type: ignore[misc]
        until(lambda: cache.engine.barrier2.n_waiting == RANKS - 1)
        assert all(wait.is_running() for wait in waits)
        assert cache.ranks[-1].barrier2.wait(LONG_S) == RANKS - 1
        assert sorted(wait.value() for wait in waits) == list(range(RANKS - 1))
        assert cache.engine.barrier2.generation == turn + 1


@pytest.mark.parametrize("how", ["lost", "aborted", "apart"])
def test_a_barrier_that_cannot_be_passed(cache: Trio, how: str) -> None:
    zero, one, two = cache.ranks
    waits = [Background(lambda r=rank: r.barrier0.wait(LONG_S)) for rank in (zero, one)]  # type: ignore[misc]
    until(lambda: cache.engine.barrier0.n_waiting == 2)
    if how == "lost":
        there = Background(lambda: two.barrier0.wait(LONG_S, label="another round"))
        assert isinstance(there.error(), BarrierMismatchError)  # now rank 2 is known at the barrier
        assert [type(wait.error()) for wait in waits] == [BarrierMismatchError] * 2
        waits = [Background(lambda r=rank: r.barrier0.wait(LONG_S)) for rank in (zero, one)]  # type: ignore[misc]
        until(lambda: cache.engine.barrier0.n_waiting == 2)
        lose(two)
        expected: type[FdcommError] = PeerLostError
    elif how == "aborted":
        two.barrier0.abort()
        expected = BarrierBrokenError
    else:
        assert isinstance(Background(lambda: two.barrier3.wait(LONG_S)).error(), BarrierMismatchError)
        expected = BarrierMismatchError
    assert [type(wait.error()) for wait in waits] == [expected] * 2
    assert cache.engine.barrier0.n_waiting == 0


def test_disaggregated_items_are_taken_together(worker: Trio) -> None:
    for rank in worker.ranks:
        rank.put_disaggregated_tasks(("decode", [rank.client_id]))
    assert worker.engine.disaggregate_requests.qsize() == RANKS
    assert worker.engine.get_disaggregated_tasks() == [("decode", [number]) for number in range(RANKS)]
    assert worker.engine.get_disaggregated_tasks() is None
