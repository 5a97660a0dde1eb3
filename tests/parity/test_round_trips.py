"""One round trip for each call, however many ranks there are; none for what is read locally, nor for items that go
through shared memory. Counted at the connection.

FastDeploy's calls make 5 to 2N + 10 of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fdcomm import EngineCacheQueue, EngineWorkerQueue
from fdcomm.views import ListView, LockView, QueueView, SharedValue, SignalView, ValueView
from tests.conformance.waiting import Background, until
from tests.parity.acts import Act, both, each, engine, first, nothing, rest
from tests.parity.rows import Row, rows
from tests.parity.worlds import LIMIT_S, Counter, Place, World, counted, opened

_TASKS = engine("put_tasks", ("tasks", 1), timeout=LIMIT_S)
_INFOS = engine("put_cache_info", [1, 2, 3], timeout=LIMIT_S)
_CONNECT = engine("put_connect_rdma_task", {"task_id": 1}, timeout=LIMIT_S)
_SWAP = engine("put_transfer_task", ("swap", 1), timeout=LIMIT_S)
_RESPOND = ("put_connect_rdma_task_response", {"task_id": 1, "success": True})
_SENT = ("put_finished_req", [["id", "finished"]])
_ADDED = ("put_finished_add_cache_task_req", ["id"])


def _wait(world: World[Any]) -> None:
    waits = [Background(lambda r=rank: r.barrier1.wait(LIMIT_S)) for rank in world.ranks[1:]]  # type: ignore[misc]
    until(lambda: world.engine.barrier1.n_waiting == len(waits))


# What comes before a call so that it does all its work, the call, and what empties the queue again.
CALLS: dict[str, tuple[Act, Act, Act]] = {
    "EngineWorkerQueue.put_tasks": (nothing, _TASKS, each("get_tasks")),
    "EngineWorkerQueue.get_tasks": (both(_TASKS, rest("get_tasks")), first("get_tasks"), nothing),
    "EngineWorkerQueue.exist_tasks": (_TASKS, engine("exist_tasks"), each("get_tasks")),
    "EngineWorkerQueue.set_exist_tasks": (nothing, engine("set_exist_tasks", False), nothing),
    "EngineWorkerQueue.num_tasks": (_TASKS, engine("num_tasks"), each("get_tasks")),
    "EngineWorkerQueue.clear_data": (_TASKS, engine("clear_data"), nothing),
    "EngineWorkerQueue.put_cache_info": (nothing, _INFOS, each("get_cache_info")),
    "EngineWorkerQueue.get_cache_info": (both(_INFOS, rest("get_cache_info")), first("get_cache_info"), nothing),
    "EngineWorkerQueue.num_cache_infos": (_INFOS, engine("num_cache_infos"), each("get_cache_info")),
    "EngineWorkerQueue.put_connect_rdma_task": (nothing, _CONNECT, each("get_connect_rdma_task")),
    "EngineWorkerQueue.get_connect_rdma_task": (
        both(_CONNECT, rest("get_connect_rdma_task")),
        first("get_connect_rdma_task"),
        nothing,
    ),
    "EngineWorkerQueue.put_connect_rdma_task_response": (
        rest(*_RESPOND),
        first(*_RESPOND),
        engine("get_connect_rdma_task_response"),
    ),
    "EngineWorkerQueue.get_connect_rdma_task_response": (
        each(*_RESPOND),
        engine("get_connect_rdma_task_response"),
        nothing,
    ),
    "EngineWorkerQueue.put_finished_req": (rest(*_SENT), first(*_SENT), engine("get_finished_req")),
    "EngineWorkerQueue.get_finished_req": (each(*_SENT), engine("get_finished_req"), nothing),
    "EngineWorkerQueue.put_finished_add_cache_task_req": (
        rest(*_ADDED),
        first(*_ADDED),
        engine("get_finished_add_cache_task_req"),
    ),
    "EngineWorkerQueue.get_finished_add_cache_task_req": (
        each(*_ADDED),
        engine("get_finished_add_cache_task_req"),
        nothing,
    ),
    "EngineWorkerQueue.put_disaggregated_tasks": (
        nothing,
        engine("put_disaggregated_tasks", 1),
        engine("get_disaggregated_tasks"),
    ),
    "EngineWorkerQueue.get_disaggregated_tasks": (
        lambda world: [world.engine.put_disaggregated_tasks(number) for number in range(20)],
        engine("get_disaggregated_tasks"),
        nothing,
    ),
    "EngineWorkerQueue.disaggregate_queue_empty": (nothing, engine("disaggregate_queue_empty"), nothing),
    "EngineCacheQueue.put_transfer_task": (nothing, _SWAP, engine("clear_transfer_task")),
    "EngineCacheQueue.get_transfer_task": (
        both(_SWAP, rest("get_transfer_task")),
        first("get_transfer_task"),
        nothing,
    ),
    "EngineCacheQueue.clear_transfer_task": (
        lambda world: [world.engine.put_transfer_task(number) for number in range(20)],
        engine("clear_transfer_task"),
        nothing,
    ),
    "EngineCacheQueue.put_transfer_done_signal": (
        nothing,
        first("put_transfer_done_signal", 1),
        both(engine("get_transfer_done_signal"), engine("get_transfer_done_signal")),
    ),
    "EngineCacheQueue.get_transfer_done_signal": (
        first("put_transfer_done_signal", 1),
        engine("get_transfer_done_signal"),
        engine("get_transfer_done_signal"),
    ),
    "EngineCacheQueue.empty": (_SWAP, engine("empty"), engine("clear_transfer_task")),
    "EngineCacheQueue.result_queue_empty": (nothing, engine("result_queue_empty"), nothing),
    "RankBarrier.wait": (_wait, lambda world: world.ranks[0].barrier1.wait(LIMIT_S), nothing),
    "RankBarrier.abort": (nothing, lambda w: w.engine.barrier1.abort(), lambda w: w.engine.barrier1.reset()),
    "RankBarrier.reset": (lambda w: w.engine.barrier1.abort(), lambda w: w.engine.barrier1.reset(), nothing),
    "RankBarrier.n_waiting": (nothing, lambda world: world.engine.barrier1.n_waiting, nothing),
    "RankBarrier.parties": (nothing, lambda world: world.engine.barrier1.parties, nothing),
    "RankBarrier.broken": (nothing, lambda world: world.engine.barrier1.broken, nothing),
}

# The end of a host is no call to it.
NOT_A_CALL = {"EngineWorkerQueue.cleanup"}

READS: dict[type, Callable[[Any], object]] = {
    ListView: lambda view: view[:],
    ValueView: lambda view: view.get(),
    SignalView: lambda view: view.value[0],
    QueueView: lambda view: view.qsize(),
    SharedValue: lambda view: view.get(),
    LockView: repr,
    int: lambda number: number,
    bool: lambda truth: truth,
}


def _acts(row: Row) -> tuple[Act, Act, Act]:
    """Return what comes before, the call, and what comes after."""
    if row.name in CALLS:
        return CALLS[row.name]
    if row.member == "get_server_port":
        return nothing, lambda world: world.server.get_server_port(), nothing
    if row.kind == "attribute":
        return (
            nothing,
            lambda world: READS[type(getattr(world.engine, row.member))](getattr(world.engine, row.member)),
            nothing,
        )
    if row.kind == "barrier":
        return nothing, lambda world: getattr(world.engine, row.member), nothing
    raise AssertionError(f"{row.name} needs a call")


# What costs nothing where items go through a ring.
ON_A_RING = {
    "EngineWorkerQueue.put_tasks",
    "EngineWorkerQueue.get_tasks",
    "EngineWorkerQueue.num_tasks",
    "EngineWorkerQueue.clear_data",
    "EngineWorkerQueue.put_cache_info",
    "EngineWorkerQueue.get_cache_info",
    "EngineWorkerQueue.num_cache_infos",
    "EngineWorkerQueue.put_connect_rdma_task",
    "EngineWorkerQueue.get_connect_rdma_task",
    "EngineWorkerQueue.tasks",
    "EngineWorkerQueue.cache_infos",
    "EngineWorkerQueue.connect_rdma_tasks",
    "EngineCacheQueue.put_transfer_task",
    "EngineCacheQueue.get_transfer_task",
    "EngineCacheQueue.clear_transfer_task",
    "EngineCacheQueue.transfer_task_queue",
}


@pytest.fixture(
    scope="module", params=[(1, "ring"), (3, "ring"), (1, "host"), (3, "host")], ids=lambda at: f"tp{at[0]}-{at[1]}"
)
def worlds(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, World[Any]], Counter]]:
    """A world of each queue, whose connections are counted."""
    tp, path = request.param
    place = Place("client", tp, 1)
    with (
        counted() as counter,
        opened(EngineWorkerQueue, place, path) as worker,
        opened(EngineCacheQueue, place, path) as cache,
    ):
        for world in (worker, cache):
            for queue in (world.engine, *world.ranks):
                queue.statistics()  # opens this thread's connection
        for queue in worker.ranks:  # each claims its rank
            assert queue.get_tasks() == ([], True)
            assert queue.get_cache_info() == []
            assert queue.get_connect_rdma_task() == (None, False)
        for queue in cache.ranks:
            assert queue.get_transfer_task() == (None, False)
        yield {"EngineWorkerQueue": worker, "EngineCacheQueue": cache, "RankBarrier": cache}, counter


COUNTED = [row for row in rows() if isinstance(row.cells["trips"], int) and row.name not in NOT_A_CALL]


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: row.name)
def test_round_trips(worlds: tuple[dict[str, World[Any]], Counter], row: Row) -> None:
    world, counter = worlds[0][row.owner], worlds[1]
    before, call, after = _acts(row)
    before(world)
    counter.trips()
    connections = counter.connections
    call(world)
    trips = counter.trips()
    after(world)
    wanted = 0 if row.name in ON_A_RING and world.engine._paths else row.cells["trips"]
    assert trips == (wanted, wanted)
    assert counter.connections == connections


def test_every_method_says_how_many() -> None:
    """One, or none where the answer is here already; and nothing else is written in the contract."""
    local = {"exist_tasks", "empty", "get_server_port", "cleanup"}
    hosted = {"EngineWorkerQueue", "EngineCacheQueue", "RankBarrier"}
    said = {row.name: row.cells["trips"] for row in rows() if row.kind == "method" and row.owner in hosted}
    assert {row.cells["trips"] for row in rows() if row.owner not in hosted} == {"none"}  # they have no host
    assert said == {name: 0 if name.partition(".")[2] in local else 1 for name in said}


def test_several_finished_requests_are_several_answers(worlds: tuple[dict[str, World[Any]], Counter]) -> None:
    """Each pair is one answer to one request, so that ranks may group them differently. FastDeploy drops the second."""
    world, counter = worlds[0]["EngineWorkerQueue"], worlds[1]
    rest("put_finished_req", [["one", "finished"], ["two", "finished"]])(world)
    counter.trips()
    world.ranks[0].put_finished_req([["one", "finished"], ["two", "finished"]])
    assert counter.trips() == (1, 1)
    assert [world.engine.get_finished_req() for _ in range(3)] == [[["one", "finished"]], [["two", "finished"]], []]


def test_the_count_sees_more(worlds: tuple[dict[str, World[Any]], Counter]) -> None:
    """Two trips are counted as two, and a new connection as one."""
    world, counter = worlds[0]["EngineCacheQueue"], worlds[1]
    counter.trips()
    world.engine.result_queue_empty()
    world.engine.result_queue_empty()
    assert counter.trips() == (2, 2)
    assert list(world.engine.tansfer_done_queue) == []
    assert counter.trips() == (2, 2)  # Python asks for the length first
    connections = counter.connections
    with EngineCacheQueue(world.server.address, num_client=world.place.tp, client_id=0):
        assert counter.connections == connections + 1
