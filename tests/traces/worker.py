"""A worker of the stress: reads for one rank in a process of its own and says what it got, as JSON lines."""

from __future__ import annotations

import argparse
import json
import os
import signal
from typing import Any

from fdcomm import EngineWorkerQueue

GET_LIMIT_S = 100.0


def say(**event: Any) -> None:
    """Print one event."""
    print(json.dumps(event), flush=True)


def main() -> None:
    """Read until the batch that is called ``end``; clear after one that asks for it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--die-in", type=int, default=0, help="die after the get of that number, before saying so")
    options = parser.parse_args()
    address = ("0.0.0.0", options.port)
    with EngineWorkerQueue(address, num_client=options.ranks, client_id=options.rank, role="reader") as queue:
        say(event="ready")
        gets = 0
        while True:
            (batch,), all_read = queue.get_tasks(timeout=GET_LIMIT_S)
            gets += 1
            if gets == options.die_in:
                os.kill(os.getpid(), signal.SIGKILL)
            say(event="got", label=batch["label"], all_read=all_read)
            if batch["clear"]:
                queue.clear_data()
                say(event="cleared")
            if batch["label"] == "end":
                return


if __name__ == "__main__":
    main()
