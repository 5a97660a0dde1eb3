"""A worker that answers control requests: small ones, and some that are larger than 1 MiB."""

from __future__ import annotations

import asyncio

from fastdeploy.inter_communicator import EngineWorkerQueue  # type: ignore[import-not-found]
from fastdeploy.inter_communicator.fmq import FMQ  # type: ignore[import-not-found]

from tests.migrate.site import idle, options, say

__all__ = ("main",)


def main() -> None:
    """Run."""
    arguments = options(__doc__)
    queue = EngineWorkerQueue(
        address=("0.0.0.0", arguments.port),
        num_client=arguments.ranks,
        client_id=arguments.rank,
        local_data_parallel_size=arguments.dp_size,
        local_data_parallel_id=arguments.dp,
    )
    output = FMQ().queue(f"ctrl_w2e_rank{arguments.rank}_{arguments.port}_{arguments.dp}", "producer")
    answered: list[str] = []
    while True:
        batches, _ = queue.get_tasks()
        if not batches:
            idle()
            continue
        (requests, _), *_ = batches
        if not requests:
            break
        for request in requests:
            number = len(answered)
            data = bytes((2 << 20) if number % 2 else 10)
            response = {"request_id": request["request_id"], "rank": arguments.rank, "data": data}
            asyncio.run(output.put(data=response, shm_threshold=1 << 20))
            answered.append(request["request_id"])
    say(event="answered", requests=answered)
    asyncio.run(output.close())
    queue.close()
