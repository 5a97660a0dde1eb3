"""The prefix cache manager: gives transfer tasks to all transfer ranks, and waits for the results."""

from __future__ import annotations

import sys
import threading
from typing import Any

from fastdeploy.inter_communicator import EngineCacheQueue  # type: ignore[import-not-found]

from tests.migrate.site import LIMIT_S, idle, options, say
from tests.migrate.transfer_tasks import CacheStatus

__all__ = ("PrefixCacheManager", "main")


class PrefixCacheManager:
    """Issues tasks from several threads; one thread receives."""

    def __init__(self, queue: Any, ranks: int) -> None:
        self.queue = queue
        self.ranks = ranks
        self.swapped: dict[str, threading.Event] = {}
        self.read: dict[str, list[Any]] = {}
        self.running = True
        self.receiver = threading.Thread(target=self.receive)
        self.receiver.start()

    def issue_swap(self, status: CacheStatus, task: str, gpu: list[int], cpu: list[int]) -> None:
        """Let all ranks move blocks, and wait until they have."""
        self.swapped[task] = threading.Event()
        self.queue.put_transfer_task((status, task, [0], gpu, cpu))
        if not self.swapped[task].wait(LIMIT_S):
            raise TimeoutError(task)
        del self.swapped[task]

    def issue_read(self, task: str, keys: list[str]) -> list[Any]:
        """Let all ranks read from the storage; each of them says how much it has got."""
        self.swapped[task], self.read[task] = threading.Event(), []
        self.queue.put_transfer_task((CacheStatus.STORAGE2GPU, {"task": task, "keys": keys}))
        if not self.swapped[task].wait(LIMIT_S):
            raise TimeoutError(task)
        return self.read.pop(task)

    def receive(self) -> None:
        """Handle results."""
        while self.running:
            done = self.queue.get_transfer_done_signal()
            if done is None:
                idle()
            elif done[0] is CacheStatus.STORAGE2GPU:
                _, task, read = done
                self.read[task].append(read)
                if len(self.read[task]) == self.ranks:
                    self.swapped[task].set()
            elif done[1] in self.swapped:  # else nobody waits for it
                self.swapped[done[1]].set()

    def reset(self) -> None:
        """Wait until all results have been handled, and drop what nobody has begun."""
        while not self.queue.result_queue_empty():
            idle()
        self.queue.clear_transfer_task()


def _use(queue: Any, dp: int, arguments: Any) -> None:
    manager = PrefixCacheManager(queue, arguments.ranks)
    evictor = threading.Thread(target=_evict, args=(manager, dp, arguments.count))
    evictor.start()
    for number in range(arguments.count):
        manager.issue_swap(CacheStatus.SWAP2GPU, f"{dp}.in.{number}", [number], [number])
        say(event="read", dp=dp, lengths=sorted(manager.issue_read(f"{dp}.read.{number}", ["key"] * number)))
    evictor.join()
    if arguments.clear:
        _clear_now_and_then(queue, dp, arguments.count)
    manager.reset()
    say(event="reset", dp=dp, empty=queue.empty())
    queue.put_transfer_task((CacheStatus.CTRL, "end"))
    while not queue.empty():
        idle()
    manager.running = False
    manager.receiver.join()


def _clear_now_and_then(queue: Any, dp: int, count: int) -> None:
    """Put tasks for which nobody waits, and take back those that no rank has begun."""
    for number in range(8 * count):
        queue.put_transfer_task((CacheStatus.SWAP2CPU, f"{dp}.prefetch.{number}", [0], [number], [number]))
        if number % 3 == 2:
            queue.clear_transfer_task()
        elif number % 3 == 1:
            idle()


def _evict(manager: PrefixCacheManager, dp: int, count: int) -> None:
    for number in range(count):
        manager.issue_swap(CacheStatus.SWAP2CPU, f"{dp}.out.{number}", [number], [number])


def main() -> None:
    """Run the server, and a manager for each replica."""
    arguments = options(__doc__)
    sizes = {"num_client": arguments.ranks, "local_data_parallel_size": arguments.dp_size}
    server = EngineCacheQueue(address=("127.0.0.1", arguments.port), is_server=True, client_id=-1, **sizes)
    address = ("127.0.0.1", server.get_server_port())
    clients = [
        EngineCacheQueue(address=address, is_server=False, client_id=0, local_data_parallel_id=dp, **sizes)
        for dp in range(arguments.dp_size)
    ]
    say(event="serving", port=address[1])
    users = [threading.Thread(target=_use, args=(client, dp, arguments)) for dp, client in enumerate(clients)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    sys.stdin.readline()
    for client in clients:
        client.close()
    server.cleanup()
