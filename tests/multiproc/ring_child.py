"""A reader of a ring, which may clear it again and again: ``<folder> <rank> <clears>``. It prints what it got."""

from __future__ import annotations

import json
import sys

from fdcomm.ring import RingReader

NAME = "ring"
LAST = -1
LIMIT_S = 60.0


def main() -> None:
    """Read up to the last message, with that many clears on the way."""
    folder, rank, clears = sys.argv[1:]
    got: list[int] = []
    with RingReader.attach(NAME, int(rank), directory=folder) as reader:
        print("ready", flush=True)
        left = int(clears)
        while not got or got[-1] != LAST:
            if left and got:
                left -= reader.clear()
                if not reader.available():
                    continue
            number, content = reader.get(LIMIT_S)
            if content != bytes([number % 256]) * len(content):
                raise RuntimeError(f"message {number} has parts of another one")
            got.append(number)
    print(json.dumps(got), flush=True)


if __name__ == "__main__":
    main()
