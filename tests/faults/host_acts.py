"""What engine and ranks do so that a host passes every fault point of every protocol, one after the other.

Each act runs until the host dies under it: then some call raises HostLostError, and that ends the act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fdcomm import (
    BarrierBrokenError,
    BarrierMismatchError,
    CommTimeoutError,
    EngineCacheQueue,
    EngineWorkerQueue,
    FdcommError,
    HostLostError,
    PeerLostError,
    StaleAnswerError,
)
from tests.conformance.waiting import Background
from tests.faults.control_acts import CONTROL_POINTS, control_act
from tests.faults.remote import LIMIT_S, until
from tests.faults.transfer_acts import TRANSFER_POINTS, transfer_act

__all__ = ("ACTS", "POINTS", "Stage")

_QUEUES: dict[str, Any] = {"worker": EngineWorkerQueue, "cache": EngineCacheQueue}


class Stage:
    """The engine's handle, and those that an act opens."""

    def __init__(self, kind: str) -> None:
        """Start the host."""
        self._queue = _QUEUES[kind]
        self.engine: Any = self._queue(("0.0.0.0", 0), is_server=True, num_client=2, depth=1)
        self.handles: list[Any] = [self.engine]
        self.waits: list[Background] = []

    def open(self, rank: int, role: str | None = None) -> Any:
        """Open a handle."""
        handle = self._queue(self.engine.address, num_client=2, client_id=rank, role=role)
        self.handles.append(handle)
        return handle

    def wait(self, call: Callable[[], Any]) -> None:
        """Let a call wait."""
        self.waits.append(Background(call))

    def waited(self) -> None:
        """Return when the call that waits has ended, other than by the end of the host."""
        error = self.waits[0].error()
        if isinstance(error, HostLostError):
            raise error
        self.waits.clear()

    def close(self, handle: Any) -> None:
        """Close a handle in peace."""
        self.handles.remove(handle)
        handle.close()

    def lose(self, handle: Any, protocol: str, *of: str) -> None:
        """End a handle as the end of its process would, and return when the host has seen it."""
        self.handles.remove(handle)
        rank = handle.client_id
        handle._release(goodbye=False)
        until(lambda: rank in self.engine._view(protocol, *of, name="view")["lost"], "the host sees the end")


def _told(error: type[FdcommError], call: Callable[[], Any]) -> None:
    try:
        answer = call()
    except error:
        return
    raise AssertionError(f"a call that must raise {error.__name__} returned {answer!r}")


def _broadcast(protocol: str, put: str, get: str, clear: str) -> Callable[[Stage], None]:
    def act(stage: Stage) -> None:
        zero, one = stage.open(0), stage.open(1)
        ranks = (zero, one)
        getattr(stage.engine, put)(["item"], timeout=LIMIT_S)
        for rank in ranks:
            getattr(rank, get)()
        getattr(stage.engine, put)(["item"], timeout=LIMIT_S)
        _told(CommTimeoutError, lambda: getattr(stage.engine, put)(["item"], timeout=0))
        if clear:
            getattr(stage.engine, clear)()
            getattr(one, clear)()
        for rank in ranks:
            getattr(rank, get)()
        stage.lose(zero, protocol)
        _told(PeerLostError, lambda: getattr(stage.engine, put)(["item"], timeout=LIMIT_S))
        stage.close(one)

    return act


def _gate(stage: Stage) -> None:
    zero, one = stage.open(0), stage.open(1)

    def answer(rank: Any, key: str) -> None:
        rank.put_finished_req([[key, "finished"]], timeout=LIMIT_S)

    for rank in (zero, one):
        answer(rank, "a")
    stage.engine.get_finished_req()
    answer(zero, "b")
    _told(CommTimeoutError, lambda: stage.engine.get_finished_req(round_timeout=0))
    _told(StaleAnswerError, lambda: answer(one, "b"))
    answer(zero, "c")
    stage.lose(one, "send_cache")
    _told(PeerLostError, lambda: stage.engine.get_finished_req(round_timeout=None))
    stage.open(1)
    stage.close(zero)
    silent = stage.open(0)
    silent.get_cache_info()
    stage.lose(silent, "send_cache")


def _barrier(stage: Stage) -> None:
    zero, one, engine = stage.open(0), stage.open(1), stage.engine

    def first() -> None:
        stage.wait(lambda: zero.barrier0.wait(LIMIT_S))
        until(lambda: engine.barrier0.n_waiting == 1, "rank 0 waits")

    first()
    one.barrier0.wait(LIMIT_S)
    stage.waited()
    _told(CommTimeoutError, lambda: zero.barrier0.wait(0))
    first()
    _told(BarrierMismatchError, lambda: one.barrier1.wait(LIMIT_S))
    stage.waited()
    engine.barrier0.abort()
    _told(BarrierBrokenError, lambda: zero.barrier0.wait(LIMIT_S))
    engine.barrier0.reset()
    stage.lose(one, "barriers.loop", "barrier0")
    stage.close(zero)


def _fifo(protocol: str, put: str, take: str) -> Callable[[Stage], None]:
    def act(stage: Stage) -> None:
        taker = stage.open(0, "producer")
        getattr(stage.engine, put)("item")
        getattr(taker, take)()
        stage.handles.remove(taker)
        taker._release(goodbye=False)
        until(lambda: not stage.engine._view(protocol, name="view")["in_hand"], "the host sees the end")

    return act


def _notes(stage: Stage) -> None:
    stage.engine.read_finish_flag.set(1)


ACTS: dict[str, tuple[str, Callable[[Stage], None]]] = {
    # protocol: kind, act
    "dispatch": ("worker", _broadcast("dispatch", "put_tasks", "get_tasks", "clear_data")),
    "cache_info": ("worker", _broadcast("cache_info", "put_cache_info", "get_cache_info", "")),
    "connect": ("worker", _broadcast("connect", "put_connect_rdma_task", "get_connect_rdma_task", "")),
    "bitmask": ("cache", _broadcast("bitmask", "put_transfer_task", "get_transfer_task", "clear_transfer_task")),
    "gate": ("worker", _gate),
    "barrier": ("cache", _barrier),
    "disaggregate": ("worker", _fifo("disaggregate", "put_disaggregated_tasks", "get_disaggregated_tasks")),
    "done": ("cache", _fifo("done", "put_transfer_done_signal", "get_transfer_done_signal")),
    "notes": ("worker", _notes),
    "control": ("worker", control_act),
    "transfer": ("cache", transfer_act),
}

_MEMBERS = ("Join.done", "Leave.done", "Fence.done")
_ITEMS = (
    *("PutTasks.enter", "CallPut.done", "PutTasks.done", "PutTimeout.done", "PutLost.done"),
    *("GetTasks.enter", "GetTasks.done", "Connect.done", "Disconnect.done", "FenceProducer.done"),
)
_CLEARS = ("Clear.enter", "ClearProducer.done", "ClearRank.done")


def _points() -> Iterator[tuple[str, str]]:
    for protocol in ("dispatch", "bitmask", "cache_info", "connect"):
        clears = _CLEARS if protocol in ("dispatch", "bitmask") else ()
        yield from ((protocol, point) for point in (*_MEMBERS, *_ITEMS, *clears))
    answers = ("PutAnswer.enter", "PutAnswer.done", "RefuseLate.done", "Vanish.done", "Reappear.done")
    collects = ("Collect.enter", "Collect.done", "EndLost.done", "EndTimeout.done")
    yield from (("gate", point) for point in (*_MEMBERS, *answers, *collects))
    waits = ("Arrive.enter", "Arrive.done", "Pass.done", "Mismatch.done", "Refuse.done", "Timeout.done")
    yield from (("barrier", point) for point in (*_MEMBERS, *waits, "Abort.done", "Reset.done"))
    for protocol in ("disaggregate", "done"):
        yield from ((protocol, point) for point in ("Post.done", "Take.done", "Gone.done"))
    yield "notes", "Note.done"
    yield from (("control", point) for point in CONTROL_POINTS)
    yield from (("transfer", point) for point in TRANSFER_POINTS)


POINTS = list(_points())
