"""SIGKILL at each step of each method of the two queues: the others go on or are told who is gone, at once.

What the host has answered is not lost; what it has not been asked did not happen; in between it is one or the other,
and the same for all ranks. After each kill the same host serves a new rank 0 as ever.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fdcomm import FdcommError, PeerLostError
from tests.conformance.waiting import Background
from tests.faults.cache_world import POINTS, World, at_once, die, opened
from tests.faults.remote import LIMIT_S, until

BROADCASTS: dict[str, tuple[str, str, Any, Any]] = {
    # get: kind, put, item, what a rank gets that gets the item
    "get_cache_info": ("worker", "put_cache_info", ["info"], ["info"]),
    "get_connect_rdma_task": ("worker", "put_connect_rdma_task", {"task_id": 1}, {"task_id": 1}),
    "get_transfer_task": ("cache", "put_transfer_task", "swap", "swap"),
}
GATES: dict[str, tuple[str, Callable[[int], Any]]] = {
    # put: get, answer to the request of that number; the engine gets of two such answers the same
    "put_connect_rdma_task_response": (
        "get_connect_rdma_task_response",
        lambda number: {"task_id": number, "success": True},
    ),
    "put_finished_req": ("get_finished_req", lambda number: [[f"id {number}", "finished"]]),
    "put_finished_add_cache_task_req": ("get_finished_add_cache_task_req", lambda number: [f"id {number}"]),
}
FIFOS = {
    "put_disaggregated_tasks": ("worker", "get_disaggregated_tasks"),
    "put_transfer_done_signal": ("cache", "get_transfer_done_signal"),
}


_requests = itertools.count(1)


def _asked(method: str) -> tuple[str, Any]:
    """Return how the engine collects, and the answer to a new request: a round that ended without a rank, because it
    was killed before it was heard, is held against the rank, and its next answer with the same id is refused once."""
    collect, answer = GATES[method]
    return collect, answer(next(_requests))


@pytest.fixture(scope="module")
def worlds() -> Iterator[dict[str, World]]:
    """One host of each kind for all kills: each has to leave it as it was."""
    with opened("worker") as worker, opened("cache") as cache:
        yield {"worker": worker, "cache": cache}


def _taken(got: Any) -> Any:
    """Return the item of a get, or None."""
    item = got[0] if isinstance(got, tuple) else got
    return item or None


# -- an item for every rank --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("method", BROADCASTS)
def test_a_reader_is_killed(worlds: dict[str, World], method: str, point: str) -> None:
    kind, put, item, got = BROADCASTS[method]
    world = worlds[kind]
    with world.victim() as victim:
        getattr(world.engine, put)(item, timeout=LIMIT_S)
        die(victim, point, method)
    with world.rank(0) as again:
        mine = _taken(getattr(again, method)())
        if point != "call.sent":
            assert mine == (got if point == "call.send" else None)
        assert _taken(getattr(world.one, method)()) == got
        assert _taken(getattr(world.one, method)()) is None
    world.check()


@pytest.mark.parametrize("method", BROADCASTS)
def test_a_reader_is_killed_while_it_waits(worlds: dict[str, World], method: str) -> None:
    """Its get takes nothing once the host knows that it is gone; before, the item is the dead one's, as if it had
    been killed just after. A put is told either way, and rank 1 gets what was put."""
    kind, put, item, got = BROADCASTS[method]
    world = worlds[kind]
    with world.victim() as victim:
        victim.start(method, timeout=None)
        victim.kill()
    outcome = at_once(lambda: getattr(world.engine, put)(item, timeout=LIMIT_S))
    if outcome is not None:  # the host had seen the get
        assert isinstance(outcome, PeerLostError)
        assert outcome.missing == (0,)
    with world.rank(0) as again:
        if outcome is None:
            assert _taken(getattr(again, method)()) in (got, None)  # None: its get was answered when it was dead
            assert _taken(getattr(world.one, method)()) == got
        assert _taken(getattr(again, method)()) is None
    world.check()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("method", BROADCASTS)
def test_a_putter_is_killed(worlds: dict[str, World], method: str, point: str) -> None:
    kind, put, item, got = BROADCASTS[method]
    world = worlds[kind]
    with world.victim("producer") as victim:
        die(victim, point, put, item, timeout=LIMIT_S)
    with world.rank(0) as zero:
        if point == "call.sent":
            getattr(world.engine, put)(item, timeout=0) if kind == "cache" else None
        items = [_taken(getattr(rank, method)()) for rank in (zero, world.one)]
        if point == "call.send":
            assert items == [None, None]
        if point == "call.received":
            assert items == [got, got]
    world.check()


@pytest.mark.parametrize("method", ["get_cache_info", "get_connect_rdma_task"])
def test_a_putter_is_killed_while_it_waits(worlds: dict[str, World], method: str) -> None:
    """Its call goes with it: nobody gets the item, and the next put does not wait behind it."""
    kind, put, item, got = BROADCASTS[method]
    world = worlds[kind]
    getattr(world.engine, put)(item, timeout=LIMIT_S)
    with world.victim("producer") as victim:
        victim.start(put, item, timeout=None)
        victim.kill()
        with world.rank(0) as zero:
            assert [_taken(getattr(rank, method)()) for rank in (zero, world.one)] == [got, got]
            assert at_once(lambda: getattr(world.engine, put)(item, timeout=LIMIT_S)) is None
    world.check()


# -- answers of every rank ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("method", GATES)
def test_an_answering_rank_is_killed(worlds: dict[str, World], method: str, point: str) -> None:
    """Its answer counts, or the engine is told that the round lacks it."""
    collect, answer = _asked(method)
    world = worlds["worker"]
    with world.victim() as victim:
        assert getattr(world.one, method)(answer, timeout=LIMIT_S) is False
        die(victim, point, method, answer, timeout=LIMIT_S)
    if point == "call.send":  # it never was a member of the gate: the engine waits for a rank 0 to come, so one comes
        with world.rank(0) as again:
            assert getattr(again, method)(answer, timeout=LIMIT_S) is True
    outcome = at_once(lambda: getattr(world.engine, collect)(timeout=LIMIT_S / 6))
    if point == "call.sent" and isinstance(outcome, FdcommError):
        assert outcome.missing == (0,)
    else:
        assert outcome == answer
    world.check()


@pytest.mark.parametrize("method", GATES)
def test_a_rank_that_has_answered_before_is_killed(worlds: dict[str, World], method: str) -> None:
    """The engine waits for its next answer, and is told at once that it will not come."""
    collect, answer = _asked(method)
    world = worlds["worker"]
    with world.victim() as victim:
        for rank in (victim.call, lambda name, *args: getattr(world.one, name)(*args)):
            rank(method, answer)
        assert getattr(world.engine, collect)() == answer
        getattr(world.one, method)(answer, timeout=LIMIT_S)
        waiting = Background(lambda: getattr(world.engine, collect)(timeout=None, round_timeout=None))
        victim.kill()
        error = waiting.error()
    assert isinstance(error, PeerLostError)
    assert error.missing == (0,)
    world.check()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("method", GATES)
def test_a_collector_is_killed(worlds: dict[str, World], method: str, point: str) -> None:
    """The round was collected or it was not; the next one is as ever either way."""
    collect, answer = _asked(method)
    world = worlds["worker"]
    with world.rank(0) as zero:
        for rank in (zero, world.one):
            getattr(rank, method)(answer, timeout=LIMIT_S)
        with world.victim("producer") as victim:
            die(victim, point, collect)
        left = getattr(world.engine, collect)()
        if point != "call.sent":
            assert (left == answer) == (point == "call.send")
    world.check()


@pytest.mark.parametrize("method", GATES)
def test_a_collector_is_killed_while_it_waits(worlds: dict[str, World], method: str) -> None:
    """It takes nothing any more."""
    collect, answer = _asked(method)
    world = worlds["worker"]
    with world.victim("producer") as victim:
        victim.start(collect, timeout=None)
        victim.kill()
        until(lambda: world.engine.statistics().sessions == 2, "the host sees the end")
        with world.rank(0) as zero:
            for rank in (zero, world.one):
                getattr(rank, method)(answer, timeout=LIMIT_S)
            assert getattr(world.engine, collect)(timeout=LIMIT_S) == answer
    world.check()


# -- items for one taker -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("put", FIFOS)
def test_a_poster_is_killed(worlds: dict[str, World], put: str, point: str) -> None:
    kind, take = FIFOS[put]
    world = worlds[kind]
    with world.victim() as victim:
        die(victim, point, put, "item")
    got = getattr(world.engine, take)()
    if point != "call.sent":
        assert bool(got) == (point == "call.received")
    world.check()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("put", FIFOS)
def test_a_taker_is_killed(worlds: dict[str, World], put: str, point: str) -> None:
    """What it took goes with it, and does not count as being handled for ever."""
    kind, take = FIFOS[put]
    world = worlds[kind]
    getattr(world.one, put)("item")
    with world.victim("producer") as victim:
        die(victim, point, take)
    if kind == "cache" and point == "call.received":
        until(world.engine.result_queue_empty, "the result counts as handled")
    got = getattr(world.engine, take)()
    if point != "call.sent":
        assert bool(got) == (point == "call.send")
    world.check()


@pytest.mark.parametrize("point", POINTS)
def test_a_clearing_process_is_killed(worlds: dict[str, World], point: str) -> None:
    world = worlds["cache"]
    world.engine.put_transfer_task("task", timeout=LIMIT_S)
    with world.victim("producer") as victim:
        die(victim, point, "clear_transfer_task")
    if point != "call.sent":
        assert world.engine.empty() == (point == "call.received")
    world.check()
