"""SIGKILL of the host in the middle of a wait, for every method that can wait: HostLostError, at once."""

from __future__ import annotations

import operator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from fdcomm import HostLostError
from fdcomm.testing.faults import FaultRuntime
from tests.faults.cache_calls import ANSWERS, at_once
from tests.faults.cache_world import BARRIERS, QUEUES, World
from tests.faults.remote import LIMIT_S, until

# Method -> the call that comes before, so that the call itself has to wait; and its arguments.
PUTS: dict[str, dict[str, Any]] = {
    "worker": {"put_tasks": ["item"], "put_cache_info": ["item"], "put_connect_rdma_task": "item"},
    "cache": {"put_transfer_task": "item"},
}
GETS = {
    "worker": ["get_tasks", "get_cache_info", "get_connect_rdma_task"],
    "cache": ["get_transfer_task"],
}
COLLECTS = {
    "worker": ["get_connect_rdma_task_response", "get_finished_req", "get_finished_add_cache_task_req"],
    "cache": [],
}


def _waits(kind: str) -> list[tuple[str, tuple[Any, ...], bool]]:
    """Return method, arguments, and whether it waits only after the same call was made before."""
    answers = ANSWERS if kind == "worker" else {}
    return [
        *((method, (item,), True) for method, item in {**PUTS[kind], **answers}.items()),
        *((method, (), False) for method in (*GETS[kind], *COLLECTS[kind])),
        *((f"{name}.wait", (), False) for name in BARRIERS[kind]),
    ]


@pytest.mark.parametrize("kind", QUEUES)
def test_every_wait_ends_with_the_host(kind: str) -> None:
    """Each method waits in a replica of its own, where nothing else happens."""
    rows = _waits(kind)
    with ExitStack() as undo:
        world = World(kind, undo, local_data_parallel_size=len(rows), depth=1)
        handles = []
        for replica in range(len(rows)):
            handle = QUEUES[kind](
                world.engine.address, num_client=2, client_id=1, local_data_parallel_id=replica, runtime=FaultRuntime()
            )
            undo.callback(handle.close)
            handles.append(handle)
        # Replica 0 has rank 1 of the world too, which never acts.
        pool = undo.enter_context(ThreadPoolExecutor(len(rows)))
        calls = []
        for handle, (method, args, after_itself) in zip(handles, rows, strict=True):
            if after_itself:
                operator.attrgetter(method)(handle)(*args, timeout=LIMIT_S)
            before = handle._runtime.passages("call.sent")
            calls.append(pool.submit(operator.attrgetter(method)(handle), *args, timeout=None))
            until(lambda h=handle, n=before: h._runtime.passages("call.sent") > n + 1, f"{method} is sent")  # type: ignore[misc]
        assert [method for (method, _, _), call in zip(rows, calls, strict=True) if call.done()] == []
        world.kill_host()
        ended = {method: type(call.exception(20.0)) for (method, _, _), call in zip(rows, calls, strict=True)}
        assert {method: error for method, error in ended.items() if error is not HostLostError} == {}
        for handle, (method, args, _) in zip(handles, rows, strict=True):
            at_once(HostLostError, lambda h=handle, m=method, a=args: operator.attrgetter(m)(h)(*a))  # type: ignore[misc]
