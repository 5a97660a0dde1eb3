"""The engine's control requests: a batch with a request to all workers, and one answer of each through a queue."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

from fastdeploy.inter_communicator.fmq import FMQ  # type: ignore[import-not-found]

from tests.migrate.engine_dispatch import start_queue
from tests.migrate.site import LIMIT_S, idle, options, say

__all__ = ("main",)


async def all_responses(queues: list[Any], request_id: str) -> list[Any]:
    """Wait for all workers at once. An answer to another request is passed over."""

    async def response_of(queue: Any) -> Any:
        while True:
            message = await queue.get(timeout=1000 * LIMIT_S)
            if message is None or message.payload["request_id"] == request_id:
                return message and message.payload

    return await asyncio.gather(*map(response_of, queues))


def control(queue: Any, dp: int, count: int, outputs: list[Any]) -> None:
    """Put requests, each when the one before was answered by all."""
    for number in range(count):
        while queue.exist_tasks():
            idle()
        request_id = f"{dp}.{number}"
        queue.put_tasks(([{"request_id": request_id, "method": "get_data"}], 1))
        responses = asyncio.run(all_responses(outputs, request_id))  # a loop for each call
        say(
            event="answered",
            dp=dp,
            request=request_id,
            ranks=[response["rank"] for response in responses],
            bytes=[len(response["data"]) for response in responses],
        )
    queue.put_tasks(([], 0))  # in this example, the end


def main() -> None:
    """Run."""
    arguments = options(__doc__)
    server, clients = start_queue(arguments)
    fmq, port = FMQ(), server.get_server_port()
    loops = []
    for dp, client in enumerate(clients):
        outputs = [fmq.queue(f"ctrl_w2e_rank{rank}_{port}_{dp}", "consumer") for rank in range(arguments.ranks)]
        loops.append(threading.Thread(target=control, args=(client, dp, arguments.count, outputs)))
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join()
    sys.stdin.readline()  # until the workers have ended
    asyncio.run(fmq.destroy())
    for client in clients:
        client.close()
    server.cleanup()
