"""A worker: rank 0 looks whether there is a batch, all ranks meet, and all of them take it or none does."""

from __future__ import annotations

import threading
from typing import Any

from fastdeploy.inter_communicator import EngineWorkerQueue  # type: ignore[import-not-found]

from tests.migrate.site import idle, options, say

__all__ = ("main",)


def event_loop(queue: Any, rank: int) -> None:
    """FastDeploy's loop, unchanged: a flag says that there is a batch, and each rank reads what there is.

    All ranks meet before they test the flag, and again in a step that has nothing to run. While nobody clears they run
    the same batches in the same steps. A clear may leave them in different steps (P1.6), also at the end; so the last
    reader of the last batch ends the loop for all.
    """
    step = 0
    while True:
        step += 1
        if rank == 0 and queue.exist_tasks():
            queue.read_finish_flag.set(1)
        try:
            queue.worker_process_tp_barrier.wait()
            tasks = []
            if queue.read_finish_flag.get() == 1:
                tasks, read_finish = queue.get_tasks()
                if read_finish:
                    queue.read_finish_flag.set(0)
            if not tasks:
                queue.worker_process_tp_barrier.wait()
                idle()
            elif not executed(tasks, step) and read_finish:
                queue.worker_process_tp_barrier.abort()
        except threading.BrokenBarrierError:
            return


def event_loop_with_tickets(queue: Any, rank: int) -> None:
    """The same with the ticket in the flag's place: whatever is cleared meanwhile, the ranks stay in step (P1.6)."""
    step = 0
    while True:
        step += 1
        if rank == 0:
            queue.read_finish_flag.set(queue.task_ticket())
        queue.worker_process_tp_barrier.wait()
        ticket = queue.read_finish_flag.get()
        queue.worker_process_tp_barrier.wait()  # rank 0 may write the next one now
        if ticket:
            tasks, _ = queue.get_tasks(ticket=ticket)
            if not executed(tasks, step):
                return
        else:
            idle()


def executed(tasks: list[Any], step: int) -> bool:
    """Run what was taken; False at the end."""
    for batch, size in tasks:
        if size == 0:
            return False
        say(event="ran", batch=[task["request"] for task in batch], step=step)
    return True


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
    (event_loop_with_tickets if arguments.tickets else event_loop)(queue, arguments.rank)
    queue.close()
