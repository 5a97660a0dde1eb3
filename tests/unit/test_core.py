"""The core of dispatch, method by method: what each changes, and that a method whose guard fails changes nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from fdcomm.core.dispatch import Dispatch
from fdcomm.errors import ConfigError, ProtocolViolationError, RankError


def _ready(ranks: int = 2, depth: int = 1) -> Dispatch[str]:
    core: Dispatch[str] = Dispatch(ranks, depth)
    core.connect(0)
    for rank in range(ranks):
        core.join(rank)
    return core


def _put(core: Dispatch[str], batch: str, producer: int = 0) -> int:
    call = core.call_put(producer, batch)
    assert core.put_tasks(call) is not None
    return call


def _state(core: Dispatch[str]) -> Any:
    log = [(entry.id, entry.epoch, entry.batch, sorted(entry.taken)) for entry in core.log]
    waiting = [(call.producer, call.id) for call in core.waiting]
    members = (sorted(core.live), sorted(core.lost), list(core.rank_seen), dict(core.prod_seen))
    return log, waiting, members, core.calls, core.epoch


@pytest.mark.parametrize(("ranks", "depth"), [(0, 1), (-1, 1), (1, 0), (1, -1)])
def test_sizes(ranks: int, depth: int) -> None:
    with pytest.raises(ConfigError, match="must be at least 1"):
        Dispatch(ranks, depth)


def test_each_rank_takes_each_batch_once() -> None:
    core = _ready()
    call = _put(core, "a")
    assert (core.exist_tasks(), core.num_tasks(), core.task_ticket(0), core.missing()) == (True, 1, call, (0, 1))
    first = core.get_tasks(0)
    assert first is not None
    assert (first.id, first.batch, first.all_read) == (call, "a", False)
    assert core.get_tasks(0) is None
    assert (core.task_ticket(0), core.task_ticket(1), core.missing()) == (0, call, (1,))
    second = core.get_tasks(1)
    assert second is not None
    assert second.all_read
    assert (core.exist_tasks(), core.num_tasks(), core.missing()) == (False, 0, ())


def test_puts_are_served_in_order_of_arrival() -> None:
    core = _ready(1)
    core.connect(1)
    _put(core, "a")
    second, third = core.call_put(1, "b"), core.call_put(0, "c")
    assert not core.can_put(second)
    core.get_tasks(0)
    assert core.put_tasks(third) is None
    assert core.put_tasks(second) is not None


def test_timeout_of_a_put_withdraws_it() -> None:
    core = _ready(1)
    _put(core, "a")
    call = core.call_put(0, "b")
    assert core.put_timeout(call)
    assert not core.is_waiting(call)
    assert not core.put_timeout(call)
    core.get_tasks(0)
    assert core.put_tasks(call) is None


def test_timeout_does_not_withdraw_what_can_be_served() -> None:
    core = _ready(1)
    call = core.call_put(0, "a")
    assert not core.put_timeout(call)
    assert core.put_tasks(call) is not None


def test_a_lost_rank_ends_puts_and_skips_what_was_started() -> None:
    core = _ready(2, depth=2)
    _put(core, "started")
    _put(core, "fresh")
    core.get_tasks(0)
    core.fence(1)
    call = core.call_put(0, "c")
    assert core.put_tasks(call) is None
    assert not core.put_timeout(call)
    assert core.put_lost(call) == (1,)
    assert core.put_lost(call) == ()
    core.join(1)
    taken = core.get_tasks(1)
    assert taken is not None
    assert taken.batch == "fresh"


def test_what_a_rank_that_left_has_not_taken_waits() -> None:
    core = _ready()
    _put(core, "a")
    core.get_tasks(0)
    core.leave(1)
    call = core.call_put(0, "b")
    assert core.put_lost(call) == ()
    core.join(1)
    taken = core.get_tasks(1)
    assert taken is not None
    assert taken.batch == "a"


def test_the_clears_of_one_epoch_are_one_clear() -> None:
    core = _ready()
    first = _put(core, "old")
    assert core.clear_rank(0) == (first,)
    _put(core, "new")
    assert core.clear_rank(1) == ()
    assert core.clear_producer(0) != ()  # its own put has shown it the epoch, so this is another clear
    assert core.epoch == 2


def test_a_clear_keeps_what_somebody_has_started() -> None:
    core = _ready(2, depth=2)
    started, fresh = _put(core, "started"), _put(core, "fresh")
    core.get_tasks(0)
    assert core.clear_rank(0) == (fresh,)
    assert core.task_ticket(1) == started


def test_tickets() -> None:
    core = _ready(1, depth=2)
    first, second = _put(core, "a"), _put(core, "b")
    assert core.get_tasks(0, second) is None
    taken = core.get_tasks(0, first)
    assert taken is not None
    assert taken.id == first


def test_a_fenced_producer_has_no_call() -> None:
    core = _ready(1)
    core.connect(1)
    _put(core, "a")
    ghost, other = core.call_put(1, "ghost"), core.call_put(0, "b")
    core.fence_producer(1)
    assert not core.is_waiting(ghost)
    core.get_tasks(0)
    assert core.put_tasks(other) is not None


REFUSED: dict[str, tuple[Callable[[Dispatch[str]], object], type[Exception]]] = {
    "join twice": (lambda core: core.join(0), ProtocolViolationError),
    "join out of range": (lambda core: core.join(2), RankError),
    "join below": (lambda core: core.join(-1), RankError),
    "leave away": (lambda core: core.leave(1), ProtocolViolationError),
    "fence away": (lambda core: core.fence(1), ProtocolViolationError),
    "get away": (lambda core: core.get_tasks(1), ProtocolViolationError),
    "get out of range": (lambda core: core.get_tasks(9), RankError),
    "clear away": (lambda core: core.clear_rank(1), ProtocolViolationError),
    "put of a stranger": (lambda core: core.call_put(5, "x"), ProtocolViolationError),
    "clear of a stranger": (lambda core: core.clear_producer(5), ProtocolViolationError),
    "disconnect stranger": (lambda core: core.disconnect(5), ProtocolViolationError),
    "fence stranger": (lambda core: core.fence_producer(5), ProtocolViolationError),
    "disconnect with a call": (lambda core: core.disconnect(0), ProtocolViolationError),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_calls_change_nothing(what: str) -> None:
    call, error = REFUSED[what]
    core = _ready()
    _put(core, "a")
    core.call_put(0, "waiting")
    core.leave(1)
    before = _state(core)
    with pytest.raises(error):
        call(core)
    assert _state(core) == before


def test_random_walk(seed: int) -> None:
    """Invariants of the contract along random calls: order, bound, exist, no ghost, nothing taken twice."""
    chance = random.Random(seed)
    for _ in range(60):
        ranks, depth = chance.randint(1, 4), chance.randint(1, 3)
        core = _ready(ranks, depth)
        core.connect(1)
        got: list[list[int]] = [[] for _ in range(ranks)]
        for _ in range(150):
            rank = chance.randrange(ranks)
            action = chance.choice(["put", "get", "get", "get", "serve", "serve", "clear", "fence", "join", "leave"])
            if action == "put":
                core.call_put(chance.randrange(2), "x")
            elif action == "serve" and core.waiting:
                core.put_tasks(core.waiting[0].id)
            elif action == "join" and rank not in core.live:
                core.join(rank)
            elif rank in core.live and action == "get":
                taken = core.get_tasks(rank)
                got[rank] += [taken.id] if taken else []
            elif rank in core.live and action == "clear":
                core.clear_rank(rank)
            elif rank in core.live and action in ("fence", "leave") and chance.random() < 0.2:
                getattr(core, action)(rank)
            ids = [entry.id for entry in core.log] + [call.id for call in core.waiting]
            assert ids == sorted(set(ids))
            assert len(core.log) <= depth
            assert core.exist_tasks() == any(core.task_ticket(r) for r in range(ranks))
            assert all(sequence == sorted(set(sequence)) for sequence in got)
            assert not core.live & core.lost
