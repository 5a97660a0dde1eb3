"""A process that asks for a clear, and says so; it is there to be killed or stopped."""

from __future__ import annotations

import sys

from fdcomm import EngineWorkerQueue, StatusCoordinator


def main(port: str) -> None:
    """Ask."""
    with EngineWorkerQueue(("0.0.0.0", int(port)), num_client=2, client_id=0, role="producer") as queue:
        print("asks", flush=True)
        result = StatusCoordinator(queue).clear(timeout=None)
        print("done" if result.ok else "failed", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
