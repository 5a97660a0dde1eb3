"""A part in a process of its own, which loops until it is killed or its parent is gone."""

from __future__ import annotations

import json
import select
import sys

from fdcomm import EngineWorkerQueue, FdcommError, Readiness

__all__ = ("main",)


def main() -> None:
    """Be the part of the arguments: port, component, rank, and the limit of its loop."""
    port, component, rank, limit = sys.argv[1:5]
    with EngineWorkerQueue(("0.0.0.0", int(port)), num_client=2, client_id=int(rank)) as queue:
        part = Readiness(queue, limit=float(limit))
        part.starting(component, int(rank))
        part.ready()
        print(json.dumps("ready"), flush=True)
        try:
            # A round is a wait for work, of a hundredth of a second; the end of the pipe is the end of the parent.
            while not select.select([sys.stdin], [], [], 0.01)[0]:
                part.beat()
        except FdcommError:  # the host has ended
            return


if __name__ == "__main__":
    main()
