"""A part of a component in a process of its own: does what is asked until it is killed."""

from __future__ import annotations

import sys

from fdcomm import EngineWorkerQueue
from fdcomm.errors import FdcommError
from fdcomm.status_part import StatusPart


def main(port: str, component: str, part: str) -> None:
    """Serve."""
    with EngineWorkerQueue(("0.0.0.0", int(port)), num_client=2, client_id=int(part)) as queue:
        mine = StatusPart(queue, component, int(part))
        first = mine.take()
        print("joined", flush=True)
        if first is not None:
            first.done()
        try:
            mine.serve({"clear": lambda: None, "update": lambda: None})
        except FdcommError:  # the host has ended
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
