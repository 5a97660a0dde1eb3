"""Every method of the two queues that goes to the host, with arguments that are right; and how to call them."""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable
from typing import Any

import pytest

from fdcomm import FdcommError

__all__ = ("ANSWERS", "BAD_TIMEOUTS", "CALLS", "NEEDS_RANK", "PUTS", "TIMED", "at_once", "call", "word")

AT_ONCE_S = 10.0
ANSWERS: dict[str, Any] = {
    "put_connect_rdma_task_response": {"task_id": 1, "success": True},
    "put_finished_req": [["id", "finished"]],
    "put_finished_add_cache_task_req": ["id"],
}

# Every method that goes to the host, with arguments that are right.
CALLS: list[tuple[str, str, tuple[Any, ...]]] = [
    *[("worker", name, (["info"],)) for name in ("put_tasks", "put_cache_info", "put_connect_rdma_task")],
    *[("worker", name, ()) for name in ("get_tasks", "get_cache_info", "get_connect_rdma_task")],
    *[("worker", name, (answer,)) for name, answer in ANSWERS.items()],
    ("worker", "get_connect_rdma_task_response", ()),
    ("worker", "get_finished_req", ()),
    ("worker", "get_finished_add_cache_task_req", ()),
    ("worker", "put_disaggregated_tasks", ("item",)),
    ("worker", "get_disaggregated_tasks", ()),
    ("worker", "disaggregate_queue_empty", ()),
    ("worker", "num_tasks", ()),
    ("worker", "num_cache_infos", ()),
    ("worker", "clear_data", ()),
    ("worker", "set_exist_tasks", (False,)),
    ("worker", "exist_tasks", ()),
    ("worker", "read_finish_flag.get", ()),
    ("worker", "read_finish_flag.set", (0,)),
    ("worker", "tasks.copy", ()),
    ("worker", "client_get_finish_send_cache_flag.copy", ()),
    ("worker", "can_put_next_add_task_finished_flag.get", ()),
    ("worker", "worker_process_tp_barrier.wait", ()),
    ("worker", "worker_process_tp_barrier.reset", ()),
    ("worker", "worker_process_tp_barrier.abort", ()),
    ("cache", "put_transfer_task", ("task",)),
    ("cache", "get_transfer_task", ()),
    ("cache", "clear_transfer_task", ()),
    ("cache", "empty", ()),
    ("cache", "put_transfer_done_signal", ("done",)),
    ("cache", "get_transfer_done_signal", ()),
    ("cache", "result_queue_empty", ()),
    ("cache", "task_sync_value.get", ()),
    ("cache", "tansfer_done_queue.copy", ()),
    ("cache", "pause_barrier.wait", ()),
    ("cache", "pause_barrier.abort", ()),
]
NEEDS_RANK = [
    *ANSWERS,
    "get_tasks",
    "get_cache_info",
    "get_connect_rdma_task",
    "get_transfer_task",
    "worker_process_tp_barrier.wait",
    "pause_barrier.wait",
]
BAD_TIMEOUTS: list[Any] = [-1, math.nan, math.inf, "1", True, 1e9]
TIMED = [
    ("worker", "put_cache_info", (["info"],)),
    ("worker", "get_cache_info", ()),
    ("worker", "put_connect_rdma_task", ("task",)),
    ("worker", "get_connect_rdma_task", ()),
    *[("worker", name, (answer,)) for name, answer in ANSWERS.items()],
    ("worker", "get_connect_rdma_task_response", ()),
    ("worker", "get_finished_req", ()),
    ("worker", "get_finished_add_cache_task_req", ()),
    ("worker", "finish_request_barrier.wait", ()),
    ("cache", "put_transfer_task", ("task",)),
    ("cache", "get_transfer_task", ()),
    ("cache", "barrier0.wait", ()),
]
PUTS = [
    ("worker", "put_cache_info", lambda item: [item]),
    ("worker", "put_connect_rdma_task", lambda item: item),
    ("worker", "put_disaggregated_tasks", lambda item: item),
    ("worker", "put_connect_rdma_task_response", lambda item: {"task_id": 1, "success": True, "more": item}),
    ("worker", "put_finished_req", lambda item: [["id", item]]),
    ("cache", "put_transfer_task", lambda item: item),
    ("cache", "put_transfer_done_signal", lambda item: item),
]


def word(value: Any) -> str:
    """Return the words of a test's parameters, for its name."""
    return value if isinstance(value, str) else ""


def call(handle: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """Call a method of the queue, or of one of its parts: ``barrier1.wait``."""
    return operator.attrgetter(method)(handle)(*args, **kwargs)


def at_once(error: type[FdcommError], act: Callable[[], Any], says: str | None = None) -> FdcommError:
    """Return the error that a call raises, and see that it took no time limit."""
    start = time.monotonic()
    with pytest.raises(error, match=says) as caught:
        act()
    assert time.monotonic() - start < AT_ONCE_S
    return caught.value
