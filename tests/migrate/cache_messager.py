"""A cache messager: connects where the engine says, accepts cache infos, and reports what it has sent."""

from __future__ import annotations

import queue as queues
import threading
from typing import Any

from fastdeploy.inter_communicator import EngineWorkerQueue  # type: ignore[import-not-found]

from tests.migrate.site import idle, options, say

__all__ = ("CacheMessager", "main")


class CacheMessager:
    """One rank, with a thread for each of its three duties."""

    def __init__(self, queue: Any, rank: int) -> None:
        self.queue = queue
        self.rank = rank
        self.accepted: queues.SimpleQueue[dict[str, Any] | None] = queues.SimpleQueue()
        self.ended = threading.Event()
        self.seen: list[str] = []

    def handle_connect_tasks(self) -> None:
        """Connect, in step with the other ranks, and answer."""
        while True:
            task, _ = self.queue.get_connect_rdma_task()
            if task is None:
                idle()
                continue
            if task["task_id"] == "end":
                self.ended.set()
                return
            self.queue.connect_task_barrier.wait()
            if self.rank == 0:
                self.queue.connect_task_barrier.reset()
            response = {"task_id": task["task_id"], "success": task["fails_at"] != self.rank}
            self.queue.connect_task_response_barrier.wait()
            if self.rank == 0:
                self.queue.connect_task_response_barrier.reset()
            self.queue.put_connect_rdma_task_response(response)

    def add_cache_tasks(self) -> None:
        """Accept cache infos, and say so when all ranks have."""
        while not self.ended.is_set():
            infos = self.queue.get_cache_info()
            if not infos:
                idle()
                continue
            self.queue.cache_info_barrier.wait()
            if self.rank == 0:
                self.queue.cache_info_barrier.reset()
            requests = [info["request_id"] for info in infos]
            self.seen += requests
            self.queue.finish_add_cache_task_barrier.wait()
            if self.rank == 0:
                self.queue.finish_add_cache_task_barrier.reset()
            self.queue.put_finished_add_cache_task_req(requests)
            for info in infos:
                self.accepted.put(info)
        self.accepted.put(None)

    def send_caches(self) -> None:
        """Send, in step with the other ranks, and report; the last rank fails at every third request."""
        number = 0
        while (info := self.accepted.get()) is not None:
            self.queue.begin_send_cache_barrier.wait()
            if self.rank == 0:
                self.queue.begin_send_cache_barrier.reset()
            fails = number % 3 == 2 and self.rank == self.queue.num_client - 1
            self.queue.finish_send_cache_barrier.wait()
            if self.rank == 0:
                self.queue.finish_send_cache_barrier.reset()
            self.queue.put_finished_req([[info["request_id"], "write cache error" if fails else "finished"]])
            number += 1


def main() -> None:
    """Run."""
    arguments = options(__doc__)
    queue = EngineWorkerQueue(
        address=("0.0.0.0", arguments.port),
        is_server=False,
        num_client=arguments.ranks,
        client_id=arguments.rank,
        local_data_parallel_size=arguments.dp_size,
        local_data_parallel_id=arguments.dp,
    )
    messager = CacheMessager(queue, arguments.rank)
    duties = [messager.handle_connect_tasks, messager.add_cache_tasks, messager.send_caches]
    threads = [threading.Thread(target=duty) for duty in duties]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(event="messaged", requests=messager.seen)
    queue.close()
