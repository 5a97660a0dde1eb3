"""One of the demo's worker processes: reads for a rank until the last batch, and says what it got as JSON lines."""

from __future__ import annotations

import argparse
import os
import signal

from fdcomm import EngineWorkerQueue
from tests.demo.engine import say

GET_LIMIT_S = 60.0


def main() -> None:
    """Read until the batch that is called ``end``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--die-after", type=int, default=0, help="kill this process after the batch of that number")
    options = parser.parse_args()
    address = ("0.0.0.0", options.port)
    with EngineWorkerQueue(address, num_client=options.ranks, client_id=options.rank, role="reader") as queue:
        say(event="ready", rank=options.rank, pid=os.getpid())
        while True:
            (tasks,), all_read = queue.get_tasks(timeout=GET_LIMIT_S)
            say(event="got", rank=options.rank, **tasks, all_read=all_read)
            if tasks["batch"] == "end":
                return
            if tasks["batch"] == options.die_after:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
