"""What the programs of this folder share and is no matter of queues: arguments, output, idling, a signal."""

from __future__ import annotations

import argparse
import json
import mmap
import struct
import threading
from pathlib import Path
from typing import Any

__all__ = ("LIMIT_S", "Signal", "idle", "options", "say")

LIMIT_S = 60.0
_output = threading.Lock()
_clock = threading.Event()


def options(what: str | None) -> argparse.Namespace:
    """Return a program's arguments."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--dp-size", type=int, default=1)
    parser.add_argument("--dp", type=int, default=0)
    parser.add_argument("--count", type=int, default=5, help="how many batches, tasks or requests for each replica")
    parser.add_argument("--clear", action="store_true", help="the engine or the manager clears the queue now and then")
    parser.add_argument("--tickets", action="store_true", help="the loop of the ranks uses tickets")
    parser.add_argument("--signals", type=Path, help="folder for signals in shared memory")
    return parser.parse_args()


def say(**event: Any) -> None:
    """Tell the test what happened."""
    with _output:
        print(json.dumps(event), flush=True)


def idle() -> None:
    """Do something else for a millisecond, as FastDeploy's polling loops do."""
    _clock.wait(0.001)


class Signal:
    """One shared number, in the place of FastDeploy's ``IPCSignal``: ``value[0]``."""

    def __init__(self, folder: Path, name: str) -> None:
        path = folder / name
        with path.open("a+b") as file:
            if path.stat().st_size < 4:
                file.write(bytes(4))
                file.flush()
            self._memory = mmap.mmap(file.fileno(), 4)
        self.value = self

    def __getitem__(self, index: int) -> int:
        return int(struct.unpack_from("<i", self._memory, 4 * index)[0])

    def __setitem__(self, index: int, number: int) -> None:
        struct.pack_into("<i", self._memory, 4 * index, number)
