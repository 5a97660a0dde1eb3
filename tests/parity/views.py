"""For each variable that FastDeploy shares: what changes it, and what it shows before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdcomm.views import ListView, QueueView, SignalView, ValueView
from tests.parity.acts import Act, both, each, engine, first, rest
from tests.parity.worlds import LIMIT_S, World

__all__ = ("SAMPLES", "Sample", "read")


@dataclass(frozen=True)
class Sample:
    """One variable.

    Attributes:
        idle: What it shows when the queue is empty, for a number of ranks.
        change: What the engine and the ranks do.
        then: What it shows after that.
        undo: Empties the queue.
        says: Methods that the refusal of a write names.
    """

    idle: Callable[[int], Any]
    change: Act
    then: Callable[[World[Any]], Any]
    undo: Act
    says: tuple[str, ...]


def read(view: Any) -> Any:
    """Read a view as FastDeploy's callers read that kind of variable."""
    if isinstance(view, ListView):
        return view[:]
    if isinstance(view, SignalView):
        return view.value[0]
    if isinstance(view, QueueView):
        return view.qsize()
    if isinstance(view, ValueView):
        return view.get()
    raise TypeError(type(view).__name__)


def _broadcast(put: str, item: Any, get: str, shows: Any, *says: str) -> Sample:
    return Sample(lambda n: [], engine(put, item, timeout=LIMIT_S), lambda w: shows, each(get), says)


def _read_flags(put: str, item: Any, get: str, idle: int) -> Sample:
    start = both(engine(put, item, timeout=LIMIT_S), first(get))
    return Sample(lambda n: [idle] * n, start, lambda w: w.flags(1, idle), rest(get), (get,))


def _answers(put: str, answer: Any, get: str, shows: Any) -> Sample:
    return Sample(lambda n: [], first(put, answer), lambda w: [shows], both(rest(put, answer), engine(get)), (put,))


def _answer_flags(put: str, answer: Any, get: str) -> Sample:
    finish = both(rest(put, answer), engine(get))
    return Sample(lambda n: [0] * n, first(put, answer), lambda w: w.flags(1, 1), finish, (put,))


def _can_put(put: str, answer: Any, get: str) -> Sample:
    return Sample(lambda n: 1, each(put, answer), lambda w: 0, engine(get), (get,))


_PUT_TASKS = ("put_tasks", ("tasks", 1), "get_tasks")
_PUT_INFO = ("put_cache_info", [{"id": 1}], "get_cache_info")
_PUT_CONNECT = ("put_connect_rdma_task", {"task_id": 1}, "get_connect_rdma_task")
_RESPONSE = {"task_id": 1, "success": True}
_RESPOND = ("put_connect_rdma_task_response", _RESPONSE, "get_connect_rdma_task_response")
_SENT = ("put_finished_req", [["id", "finished"]], "get_finished_req")
_ADDED = ("put_finished_add_cache_task_req", ["id"], "get_finished_add_cache_task_req")
_TRANSFER = ("put_transfer_task", ("swap", 1), "get_transfer_task")
_EXIST = Sample(
    lambda n: 0,
    engine("put_tasks", 1, timeout=LIMIT_S),
    lambda w: 1,
    each("get_tasks"),
    ("put_tasks", "clear_data"),
)

SAMPLES = {
    "EngineWorkerQueue.tasks": _broadcast(*_PUT_TASKS, [("tasks", 1)], "put_tasks", "clear_data"),
    "EngineWorkerQueue.client_read_flag": _read_flags(*_PUT_TASKS, 1),
    "EngineWorkerQueue.exist_tasks_inter_signal": _EXIST,
    "EngineWorkerQueue.exist_tasks_intra_signal": _EXIST,
    "EngineWorkerQueue.cache_infos": _broadcast(*_PUT_INFO, [{"id": 1}], "put_cache_info"),
    "EngineWorkerQueue.client_read_info_flag": _read_flags(*_PUT_INFO, 0),
    "EngineWorkerQueue.disaggregate_requests": Sample(
        lambda n: 0,
        engine("put_disaggregated_tasks", 1),
        lambda w: 1,
        engine("get_disaggregated_tasks"),
        ("put_disaggregated_tasks", "get_disaggregated_tasks"),
    ),
    "EngineWorkerQueue.connect_rdma_tasks": _broadcast(*_PUT_CONNECT, [{"task_id": 1}], "put_connect_rdma_task"),
    "EngineWorkerQueue.client_get_connect_task_flag": _read_flags(*_PUT_CONNECT, 0),
    "EngineWorkerQueue.connect_rdma_task_responses": _answers(*_RESPOND, _RESPONSE),
    "EngineWorkerQueue.finished_send_cache_list": _answers(*_SENT, ["id", "finished"]),
    "EngineWorkerQueue.finished_add_cache_task_list": _answers(*_ADDED, ["id"]),
    "EngineWorkerQueue.client_get_connect_task_response_flag": _answer_flags(*_RESPOND),
    "EngineWorkerQueue.client_get_finish_send_cache_flag": _answer_flags(*_SENT),
    "EngineWorkerQueue.client_get_finished_add_cache_task_flag": _answer_flags(*_ADDED),
    "EngineWorkerQueue.can_put_next_connect_task_response_flag": _can_put(*_RESPOND),
    "EngineWorkerQueue.can_put_next_send_cache_finished_flag": _can_put(*_SENT),
    "EngineWorkerQueue.can_put_next_add_task_finished_flag": _can_put(*_ADDED),
    "EngineCacheQueue.transfer_task_queue": _broadcast(*_TRANSFER, [("swap", 1)], "put_transfer_task"),
    "EngineCacheQueue.tansfer_done_queue": Sample(
        lambda n: [],
        each("put_transfer_done_signal", "done"),
        lambda w: ["done"] * w.place.tp,
        lambda w: [w.engine.get_transfer_done_signal() for _ in range(1 + w.place.tp)],
        ("put_transfer_done_signal",),
    ),
    "EngineCacheQueue.task_sync_value": Sample(
        lambda n: 0,
        both(engine(*_TRANSFER[:2], timeout=LIMIT_S), first("get_transfer_task")),
        lambda w: 1 if w.place.tp > 1 else 0,
        rest("get_transfer_task"),
        ("get_transfer_task",),
    ),
}
