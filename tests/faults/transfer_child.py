"""A rank's transfer loop, or a client, in a process of its own. One JSON line of orders, one line per event."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from fdcomm import EngineCacheQueue, PauseControl
from fdcomm.transfer import TransferLoop, TransferTask
from fdcomm.transfer_tasks import TransferTasks
from tests.faults.json_child import say

__all__ = ("main",)


def _handle(task: TransferTask) -> Any:
    if task.payload == "never":
        say("doing")
        signal.pause()
    if task.payload == "long":
        say("doing")
        sys.stdin.readline()
    return task.payload


def main(orders: dict[str, Any]) -> None:
    """Run the loop of ``orders["rank"]``, or issue ``orders["issue"]``; die at the stage ``orders["die"]``."""

    def progress(number: int, kind: str, stage: str) -> None:
        if stage == orders.get("die"):
            os.kill(os.getpid(), signal.SIGKILL)

    rank = orders.get("rank", 0)
    role: Any = None if "rank" in orders else "producer"
    with EngineCacheQueue(("0.0.0.0", orders["port"]), num_client=2, client_id=rank, role=role) as queue:
        if "rank" in orders:
            with PauseControl(queue, rank=True) as control:
                handlers, limit_s = {"swap": _handle, "store": _handle}, orders.get("limit_s")
                loop = TransferLoop(queue, control, handlers, limit_s=limit_s, progress=progress)
                loop.step(timeout=0)
                say("ready")
                loop.run()
        else:
            tasks = TransferTasks(queue)
            for payload in orders["issue"]:
                tasks.issue(payload, "swap")
            say("issued")
            tasks.result(None)


if __name__ == "__main__":
    main(json.loads(sys.stdin.readline()))
