"""The demo's engine process: starts the queue, puts batches, and says what happens as JSON lines."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from fdcomm import EngineWorkerQueue, PeerLostError

PUT_LIMIT_S = 60.0


def say(**event: Any) -> None:
    """Print one event."""
    print(json.dumps(event), flush=True)


def batch(number: int) -> dict[str, Any]:
    """Return what the engine puts under that number."""
    return {"batch": number, "tasks": [{"request": f"request {number}.{index}"} for index in range(1 + number % 3)]}


def main() -> None:
    """Serve, put, and stay until the parent closes our standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--batches", type=int, required=True)
    parser.add_argument("--trace", required=True)
    options = parser.parse_args()
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=options.ranks, trace=options.trace) as queue:
        # Nobody reads yet, so this one is dropped by the clear, and no rank may ever see it.
        queue.put_tasks({"batch": 0, "tasks": ["from before the clear"]}, timeout=PUT_LIMIT_S)
        queue.clear_data()
        say(event="serving", port=queue.get_server_port())
        for number in range(1, options.batches + 1):
            put(queue, batch(number))
        put(queue, {"batch": "end", "tasks": []})
        sys.stdin.readline()


def put(queue: EngineWorkerQueue, tasks: dict[str, Any]) -> None:
    """Put a batch; when a rank is lost, say so, wait for the word that it was restarted, and put again."""
    while True:
        try:
            queue.put_tasks(tasks, timeout=PUT_LIMIT_S)
        except PeerLostError as error:
            say(event="lost", ranks=error.missing, text=str(error))
            sys.stdin.readline()
        else:
            say(event="put", batch=tasks["batch"])
            return


if __name__ == "__main__":
    main()
