"""The variables that FastDeploy shares can be read, show what is so, and cannot be written."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import pytest

from fdcomm import EngineCacheQueue, EngineWorkerQueue, ReadOnlyError
from fdcomm.views import ListView, LockView, QueueView, SharedValue, SignalView, ValueView
from tests.parity.rows import members, rows
from tests.parity.views import SAMPLES, read
from tests.parity.worlds import DP_SIZE, World

KINDS = {row.name: row.cells["view"] for row in rows() if row.kind == "attribute"}
LOCKS = [name for name, kind in KINDS.items() if kind == "LockView"]
LOCKED_BY = {"EngineWorkerQueue": ("the queue's methods",), "EngineCacheQueue": ("put_transfer",)}

WRITES: dict[type, dict[str, Callable[[Any], object]]] = {
    ListView: {
        "append": lambda v: v.append(1),
        "extend": lambda v: v.extend([1]),
        "insert": lambda v: v.insert(0, 1),
        "pop": lambda v: v.pop(0),
        "remove": lambda v: v.remove(1),
        "clear": lambda v: v.clear(),
        "sort": lambda v: v.sort(),
        "reverse": lambda v: v.reverse(),
        "item": lambda v: operator.setitem(v, 0, 1),
        "slice": lambda v: operator.setitem(v, slice(None), []),
        "delete": lambda v: operator.delitem(v, 0),
        "+=": lambda v: v.__iadd__([1]),
        "*=": lambda v: v.__imul__(2),
    },
    ValueView: {"set": lambda v: v.set(1), "value": lambda v: setattr(v, "value", 1)},
    SignalView: {
        "value": lambda v: setattr(v, "value", [1]),
        "item": lambda v: operator.setitem(v.value, 0, 1),
        "clear": lambda v: v.clear(),
    },
    QueueView: {
        "put": lambda v: v.put(1),
        "put_nowait": lambda v: v.put_nowait(1),
        "get": lambda v: v.get(),
        "get_nowait": lambda v: v.get_nowait(),
    },
    LockView: {
        "acquire": lambda v: v.acquire(),
        "acquire with a limit": lambda v: v.acquire(True, 1.0),
        "release": lambda v: v.release(),
        "with": lambda v: v.__enter__(),
        "end of with": lambda v: v.__exit__(None, None, None),
    },
}


def _name(full_name: str) -> str:
    return full_name.partition(".")[2]


def _of(owner: str) -> list[str]:
    return [name for name in SAMPLES if name.startswith(owner)]


def _is_live(world: World[Any], name: str) -> None:
    sample = SAMPLES[name]
    views = [getattr(queue, _name(name)) for queue in (world.engine, world.server, world.ranks[-1])]
    elsewhere = getattr(world.other, _name(name))
    idle = sample.idle(world.place.tp)
    assert [type(view).__name__ for view in views] == [KINDS[name]] * 3
    assert [read(view) for view in views] == [idle] * 3
    sample.change(world)
    assert [read(view) for view in views] == [sample.then(world)] * 3
    assert repr(views[0]).startswith(f"<{KINDS[name]} {_name(name)}: ")
    assert read(elsewhere) == idle  # each replica has its own
    sample.undo(world)
    assert [read(view) for view in views] == [idle] * 3


@pytest.mark.parametrize("name", _of("EngineWorkerQueue"))
def test_a_view_is_live(worker: World[EngineWorkerQueue], name: str) -> None:
    _is_live(worker, name)


@pytest.mark.parametrize("name", _of("EngineCacheQueue"))
def test_a_view_of_the_cache_queue_is_live(cache: World[EngineCacheQueue], name: str) -> None:
    _is_live(cache, name)


def test_a_view_reads_as_what_it_stands_for(worker: World[EngineWorkerQueue]) -> None:
    queue = worker.engine
    queue.put_cache_info(["a", "b", "a"])
    infos = queue.cache_infos
    assert (len(infos), infos[0], infos[-1], infos[1:]) == (3, "a", "a", ["b", "a"])
    assert list(infos) == infos.copy() == [*reversed(infos)] == ["a", "b", "a"]
    assert ("b" in infos, infos.count("a"), infos.index("b")) == (True, 2, 1)
    assert infos == queue.cache_infos == ["a", "b", "a"]
    assert infos != []
    assert sum(queue.client_read_info_flag) == 0
    assert queue.exist_tasks_intra_signal.value == [0]
    assert queue.exist_tasks_inter_signal.value == queue.exist_tasks_inter_signal.get() == 0
    assert queue.disaggregate_requests.empty()
    assert not queue.disaggregate_requests.full()
    for rank in worker.ranks:
        rank.get_cache_info()


def test_clients_are_counted_by_replica(worker: World[EngineWorkerQueue]) -> None:
    engines = 1 if worker.place.through == "client" else 0
    counter = worker.engine.connected_client_counter
    assert counter.get() == worker.place.tp + engines
    assert worker.other.connected_client_counter.value == 1
    with EngineWorkerQueue(
        worker.server.address,
        num_client=worker.place.tp,
        client_id=0,
        local_data_parallel_size=DP_SIZE,
        local_data_parallel_id=worker.place.dp,
    ):
        assert counter.get() == worker.place.tp + engines + 1
    assert counter.get() == worker.place.tp + engines


def test_the_callers_own_number(worker: World[EngineWorkerQueue]) -> None:
    """FastDeploy's workers set read_finish_flag themselves, so this one is not read-only."""
    flag = worker.ranks[0].read_finish_flag
    assert isinstance(flag, SharedValue)
    assert flag.get() == worker.engine.read_finish_flag.get() == 0
    flag.set(1)
    assert [queue.read_finish_flag.get() for queue in (worker.engine, *worker.ranks)] == [1] * (1 + worker.place.tp)
    assert worker.other.read_finish_flag.value == 0
    worker.ranks[-1].read_finish_flag.value = 0
    assert flag.value == 0


def test_single_node(worker: World[EngineWorkerQueue]) -> None:
    assert all(queue.is_single_node is True for queue in (worker.engine, *worker.ranks))


def test_constants_of_the_mask(cache: World[EngineCacheQueue]) -> None:
    tp = cache.place.tp
    assert {queue.total_num for queue in (cache.engine, cache.server, *cache.ranks)} == {2**tp - 1}
    assert [queue.position for queue in cache.ranks] == [2**rank for rank in range(tp)]
    assert cache.server.position == 0
    assert sum(queue.position for queue in cache.ranks) == cache.engine.total_num


# -- writing: refused by the handle itself, so one world of each queue is enough ---------------------------------------


@pytest.fixture(scope="module")
def both() -> dict[str, Any]:
    """One queue of each class, closed: a refusal needs no host."""
    closed = {}
    for queue in (EngineWorkerQueue, EngineCacheQueue):
        handle: Any = queue(("0.0.0.0", 0), is_server=True)
        handle.close()
        closed[queue.__name__] = handle
    return closed


@pytest.mark.parametrize("name", [name for name in KINDS if name in SAMPLES or name in LOCKS])
def test_writing_is_refused(both: dict[str, Any], name: str) -> None:
    owner, attribute = name.split(".")
    queue = both[owner]
    writes = WRITES[type(getattr(queue, attribute))]
    assert writes
    named = SAMPLES[name].says if name in SAMPLES else LOCKED_BY[owner]

    def refused(how: str, attempt: Callable[[], object]) -> None:
        with pytest.raises(ReadOnlyError, match=f"{attribute}.* can be read, not written") as caught:
            attempt()
        assert attribute in caught.value.operation, how
        assert all(method in str(caught.value) for method in named), (how, str(caught.value))
        assert isinstance(caught.value, TypeError)

    for how, write in writes.items():
        refused(how, functools.partial(write, getattr(queue, attribute)))
    refused("attribute", lambda: setattr(queue, attribute, None))
    refused("deletion", lambda: delattr(queue, attribute))


def test_counting_is_refused(both: dict[str, Any]) -> None:
    view = both["EngineWorkerQueue"].connected_client_counter
    for write in WRITES[ValueView].values():
        with pytest.raises(ReadOnlyError, match="close"):
            write(view)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_not_needed(both: dict[str, Any], name: str) -> None:
    """It is there under its name, says so when it is shown, and cannot be taken: nobody could die holding it."""
    owner, attribute = name.split(".")
    lock = getattr(both[owner], attribute)
    assert repr(lock) == f"<LockView {attribute}: 'not needed'>"
    with pytest.raises(ReadOnlyError):
        lock.acquire()


def test_the_constants_cannot_be_confused_with_views(both: dict[str, Any]) -> None:
    assert both["EngineCacheQueue"].total_num == 1
    assert both["EngineCacheQueue"].position == 0


def test_every_attribute_has_a_sample() -> None:
    elsewhere = {
        "EngineWorkerQueue.read_finish_flag",
        "EngineWorkerQueue.connected_client_counter",
        "EngineWorkerQueue.is_single_node",
        "EngineCacheQueue.total_num",
        "EngineCacheQueue.position",
    }
    assert {*SAMPLES, *LOCKS, *elsewhere} == set(members("attribute"))
