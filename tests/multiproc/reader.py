"""A reader process: takes every batch of its rank until the last, checks each, and prints what it took.

Standard library and fdcomm only, so that any supported interpreter can run it.
"""

from __future__ import annotations

import argparse
import json
import random
import zlib
from typing import Any

from fdcomm import EngineWorkerQueue

__all__ = ("END", "SIZES", "batch", "main")

LIMIT_S = 60.0
END = "end"

# Nothing, a pipe's and a socket's usual limits and one beside them, 16 to 64 KiB (two writes per message), 1 MiB.
SIZES = (0, 1, 64, 4095, 4096, 16383, 16384, 16385, 20_000, 40_000, 65_535, 65_536, 65_537, 262_144, 1 << 20)
_WEIGHTS = (8, 8, 20, 4, 8, 4, 4, 4, 4, 4, 2, 2, 2, 1, 1)


def batch(name: str, randomness: random.Random) -> dict[str, Any]:
    """Return a batch of random size with the checksum of its content."""
    (size,) = randomness.choices(SIZES, _WEIGHTS)
    data = randomness.randbytes(size)
    return {"name": name, "data": data, "crc": zlib.crc32(data)}


def main() -> None:
    """Read until the batch that is called ``end``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--clear-every", type=int, default=0, help="clear_data after so many batches")
    options = parser.parse_args()
    names: list[str] = []
    last = 0
    with EngineWorkerQueue(
        ("0.0.0.0", options.port), num_client=options.ranks, client_id=options.rank, role="reader"
    ) as queue:
        print(json.dumps({"ready": options.rank}), flush=True)
        while not names or names[-1] != END:
            (taken,), all_read = queue.get_tasks(timeout=LIMIT_S)
            if zlib.crc32(taken["data"]) != taken["crc"]:
                raise SystemExit(f"rank {options.rank}: the content of {taken['name']} was altered")
            names.append(taken["name"])
            last += all_read
            if options.clear_every and len(names) % options.clear_every == 0 and names[-1] != END:
                queue.clear_data()
    print(json.dumps({"names": names, "last": last}), flush=True)


if __name__ == "__main__":
    main()
