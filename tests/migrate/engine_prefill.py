"""The engine of a prefill instance: lets all messagers connect, hands them cache infos, and collects their reports."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.migrate.engine_dispatch import start_queue
from tests.migrate.site import LIMIT_S, idle, options, say

__all__ = ("main",)


def polled(ask: Callable[[], Any]) -> Any:
    """Ask until there is an answer, as the engine's threads do."""
    end = time.monotonic() + LIMIT_S
    while not (answer := ask()):
        if time.monotonic() > end:
            raise TimeoutError
        idle()
    return answer


def collect_finished(queue: Any, count: int, finished: list[Any]) -> None:
    """The token processor's thread: which requests' caches have arrived at the decode instance."""
    while len(finished) < count:
        finished += polled(queue.get_finished_req)


def prefill(queue: Any, dp: int, count: int) -> None:
    """Connect; then, for each request: announce it, hand its cache info over, wait until it was accepted."""
    queue.put_disaggregated_tasks(("prefill", [f"{dp}.{number}" for number in range(count)]))
    finished: list[Any] = []
    collector = threading.Thread(target=collect_finished, args=(queue, count, finished))
    collector.start()
    for task in range(3):
        queue.put_connect_rdma_task({"task_id": f"connect {task}", "ip": "192.0.2.1", "fails_at": task - 1})
        response = polled(queue.get_connect_rdma_task_response)
        say(event="connected", dp=dp, task=response["task_id"], success=response["success"])
    (_, requests), *_ = polled(queue.get_disaggregated_tasks)
    for request in requests:
        queue.put_cache_info([{"request_id": request, "dest_block_ids": [1, 2], "src_block_ids": [3, 4]}])
        added = polled(queue.get_finished_add_cache_task_req)
        say(event="added", dp=dp, requests=added)
    collector.join()
    say(event="finished", dp=dp, results=finished)
    queue.put_connect_rdma_task({"task_id": "end"})  # in this example, the end


def main() -> None:
    """Run."""
    arguments = options(__doc__)
    server, clients = start_queue(arguments)
    loops = [threading.Thread(target=prefill, args=(client, dp, arguments.count)) for dp, client in enumerate(clients)]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join()
    sys.stdin.readline()
    for client in clients:
        client.close()
    server.cleanup()
