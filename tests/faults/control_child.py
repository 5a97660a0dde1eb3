"""A rank, or a client, of control requests in a process of its own. One JSON line of orders, one line per event."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.control import ControlClient, ControlServer
from tests.faults.json_child import say

__all__ = ("main",)


def _handle(payload: Any) -> Any:
    if payload == "never":
        say("doing")
        signal.pause()
    if payload == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return payload


def main(orders: dict[str, Any]) -> None:
    """Serve as the rank ``orders["rank"]``, or ask ``orders["ask"]``."""
    rank = orders.get("rank", 0)
    role: Any = None if "rank" in orders else "producer"
    with EngineWorkerQueue(("0.0.0.0", orders["port"]), num_client=2, client_id=rank, role=role) as queue:
        if "rank" in orders:
            server = ControlServer(queue)
            server.take()
            say("ready")
            server.serve(_handle)
        else:
            say("asking")
            ControlClient(queue).ask(orders["ask"], timeout=None)


if __name__ == "__main__":
    main(json.loads(sys.stdin.readline()))
