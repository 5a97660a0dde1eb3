"""A transfer manager: all ranks go through the same rounds, held together by barriers, and execute what they take."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from fastdeploy.inter_communicator import EngineCacheQueue  # type: ignore[import-not-found]

from tests.migrate.site import Signal, idle, options, say
from tests.migrate.transfer_tasks import CacheStatus

__all__ = ("CacheTransferManager", "main")


class CacheTransferManager:
    """One rank. A thread for each kind of task; tasks of one kind keep their order."""

    def __init__(self, queue: Any, rank: int, broadcast: Signal) -> None:
        self.queue = queue
        self.rank = rank
        self.broadcast = broadcast
        self.pools = {status: ThreadPoolExecutor(1) for status in CacheStatus}
        self.work: list[Future[None]] = []
        self.moved: list[str] = []
        self.rounds: list[tuple[int, str]] = []
        self.number = 0
        self.running = True

    def wait(self, barrier: Any) -> None:
        """Meet the others. FastDeploy's rank 0 resets every barrier after use; here that does nothing."""
        barrier.wait()
        if self.rank == 0:
            barrier.reset()

    def round(self) -> None:
        """Take one task, if there is one: rank 0 looks, and tells the others."""
        self.wait(self.queue.barrier0)
        if self.rank == 0 and not self.queue.empty():
            self.broadcast.value[0] = 1
        self.wait(self.queue.barrier1)
        if self.broadcast.value[0] == 1:
            task, read_finish = self.queue.get_transfer_task()
            if read_finish:
                self.broadcast.value[0] = 0
            self.running = task[0] is not CacheStatus.CTRL  # in this example, the end
            self.work.append(self.pools[task[0]].submit(self.execute, task))
            self.wait(self.queue.barrier3)
        else:
            self.wait(self.queue.barrier2)
            idle()

    def round_with_ticket(self) -> None:
        """The same with the ticket in the flag's place: all ranks take that task, or none does, whatever is cleared."""
        self.number += 1
        self.wait(self.queue.barrier0)
        if self.rank == 0:
            self.broadcast.value[0] = self.queue.transfer_ticket()
        self.wait(self.queue.barrier1)
        ticket = self.broadcast.value[0]
        task = self.queue.get_transfer_task(ticket=ticket)[0] if ticket else None
        if task is not None:
            self.rounds.append((self.number, str(task[1])))
            self.running = task[0] is not CacheStatus.CTRL
            self.work.append(self.pools[task[0]].submit(self.execute, task))
            self.wait(self.queue.barrier3)
        else:
            self.wait(self.queue.barrier2)
            idle()

    def execute(self, task: tuple[Any, ...]) -> None:
        """In the thread of the task's kind."""
        status = task[0]
        if status is CacheStatus.SWAP2GPU:
            self.swap(task, self.queue.swap_to_gpu_barrier1, self.queue.swap_to_gpu_barrier2)
        elif status is CacheStatus.SWAP2CPU:
            self.swap(task, self.queue.swap_to_cpu_barrier1, self.queue.swap_to_cpu_barrier2)
        elif status is CacheStatus.STORAGE2GPU:
            self.moved.append(task[1]["task"])
            self.queue.swap_storage_to_gpu_barrier.wait()
            self.queue.swap_storage_to_gpu_barrier.reset()  # by every rank
            self.queue.put_transfer_done_signal((status, task[1]["task"], len(task[1]["keys"])))
        else:
            self.queue.barrier.wait()

    def swap(self, task: tuple[Any, ...], before: Any, after: Any) -> None:
        """Move blocks between two meetings; rank 0 reports when all have moved theirs."""
        self.wait(before)
        self.moved.append(task[1])
        self.wait(after)
        if self.rank == 0:
            self.queue.put_transfer_done_signal(task)


def main() -> None:
    """Run."""
    arguments = options(__doc__)
    queue = EngineCacheQueue(
        address=("127.0.0.1", arguments.port),
        is_server=False,
        num_client=arguments.ranks,
        client_id=arguments.rank,
        local_data_parallel_size=arguments.dp_size,
        local_data_parallel_id=arguments.dp,
    )
    broadcast = Signal(arguments.signals, f"cache_task_broadcast_signal.{arguments.dp}")
    manager = CacheTransferManager(queue, arguments.rank, broadcast)
    while manager.running:
        if arguments.tickets:
            manager.round_with_ticket()
        else:
            manager.round()
    for work in manager.work:
        work.result()
    for pool in manager.pools.values():
        pool.shutdown()
    say(event="moved", tasks=manager.moved, rounds=manager.rounds)
    queue.close()
