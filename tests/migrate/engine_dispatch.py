"""The engine: starts the queue, and puts a batch when the workers of the replica have taken the one before."""

from __future__ import annotations

import sys
import threading
from typing import Any

from fastdeploy.inter_communicator import EngineWorkerQueue  # type: ignore[import-not-found]

from tests.migrate.site import idle, options, say

__all__ = ("main", "start_queue")


def start_queue(options: Any) -> tuple[Any, list[Any]]:
    """Start the server, and connect to each replica as an engine does: as client 0, which rank 0 is too."""
    server = EngineWorkerQueue(
        address=("0.0.0.0", options.port),
        is_server=True,
        num_client=options.ranks,
        local_data_parallel_size=options.dp_size,
    )
    address = ("0.0.0.0", server.get_server_port())
    clients = [
        EngineWorkerQueue(
            address=address,
            is_server=False,
            num_client=options.ranks,
            client_id=0,
            local_data_parallel_size=options.dp_size,
            local_data_parallel_id=dp,
        )
        for dp in range(options.dp_size)
    ]
    say(event="serving", port=address[1])
    return server, clients


def dispatch(queue: Any, dp: int, count: int, clear: bool) -> None:
    """Schedule, and put."""
    for number in range(count):
        while queue.exist_tasks():
            idle()
        tasks = [{"request": f"{dp}.{number}.{index}"} for index in range(1 + number % 3)]
        queue.put_tasks((tasks, len(tasks)))
        if clear and number % 3 == 2:
            queue.clear_data()  # the requests were aborted; a batch that some rank has taken goes to all
    queue.put_tasks(([], 0))  # in this example, the end


def main() -> None:
    """Run."""
    arguments = options(__doc__)
    server, clients = start_queue(arguments)
    loops = [
        threading.Thread(target=dispatch, args=(client, dp, arguments.count, arguments.clear))
        for dp, client in enumerate(clients)
    ]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join()
    sys.stdin.readline()  # until the workers have ended
    for client in clients:
        client.close()
    server.cleanup()
