"""A process at a ring that records each of its memory accesses, and can kill itself after one of them.

``python -m tests.traces.ring_worker <folder> <log> <process> read|write|clear <count> <kill after>``. An access and
its record are made under one lock, so the records of all processes have the order of the accesses.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, FencedError
from fdcomm.ring import clearing, members, publisher
from fdcomm.ring.memory import Memory
from fdcomm.ring.reader import RingReader
from fdcomm.ring.waiting import Patience
from fdcomm.ring.writer import RingWriter
from fdcomm.runtime import SYSTEM

NAME = "ring"
_LIMIT_S = 30.0


class Log:
    """Lines of several processes in one file, in the order of what they are about."""

    def __init__(self, path: str, process: int, kill_after: int) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._process = process
        self._left = kill_after

    def write(self, do: Callable[[], int], **what: Any) -> int:
        """Do something, and note it; kill this process if it is time."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        value = do()
        self._line(value=value, **what)
        self._left -= what["op"] in ("load", "store")
        if self._left == 0 and what["op"] in ("load", "store"):
            self._line(op="kill", value=0)
            os.kill(os.getpid(), signal.SIGKILL)
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return value

    def _line(self, **what: Any) -> None:
        os.write(self._fd, (json.dumps({"process": self._process, **what}) + "\n").encode())

    def mark(self, op: str, value: int = 0) -> None:
        """Note what is no access."""
        self.write(lambda: value, op=op)


class Recorded:
    """Words whose accesses are recorded."""

    def __init__(self, words: Any, log: Log) -> None:
        self._words = words
        self._log = log

    def __getitem__(self, place: int, /) -> int:
        return self._log.write(lambda: int(self._words[place]), op="load", word=place)

    def __setitem__(self, place: int, value: int, /) -> None:
        def store() -> int:
            self._words[place] = value
            return value

        self._log.write(store, op="store", word=place)


def _opened(folder: str, log: Log) -> Memory:
    memory = Memory.open(NAME, folder, Deadline(_LIMIT_S, SYSTEM.monotonic))
    memory.board.words = Recorded(memory.board.words, log)
    return memory


def _read(folder: str, log: Log, rank: int, count: int) -> None:
    memory = _opened(folder, log)
    place = members.attach(memory.board, rank, Deadline(_LIMIT_S, SYSTEM.monotonic))
    reader = RingReader(memory, place)
    reader._consumer._patience = Patience(memory.board, 0)
    log.mark("attached")
    with contextlib.suppress(FencedError, CommTimeoutError):
        while True:
            got = reader.get(_LIMIT_S)
            log.mark("got", got)
            if got >= count:
                break


def _write(folder: str, log: Log, count: int) -> None:
    memory = _opened(folder, log)
    writer = RingWriter(memory, Deadline(_LIMIT_S, SYSTEM.monotonic), "take_over", fresh=False)
    of_writer = writer._publisher
    of_writer.patience = Patience(memory.board, 0)
    look, fence_dead = of_writer.look, members.fence_dead

    def marked_look() -> bool:
        log.mark("look")
        try:
            return look()
        finally:
            log.mark("looked")

    def marked_fence(*arguments: Any) -> Any:
        log.mark("fence")
        try:
            return fence_dead(*arguments)
        finally:
            log.mark("fenced")

    of_writer.look = marked_look  # type: ignore[method-assign]
    vars(publisher)["fence_dead"] = marked_fence
    log.mark("attached")
    while of_writer.head < count:
        writer.put(of_writer.head + 1, _LIMIT_S)


def main() -> None:
    """Do it."""
    folder, path, process, what, count, kill_after = sys.argv[1:]
    log = Log(path, int(process), int(kill_after))
    print("ready", flush=True)
    sys.stdin.readline()
    if what == "write":
        _write(folder, log, int(count))
    elif what == "clear":
        memory = _opened(folder, log)
        log.mark("attached")
        clearing.clear(memory.board, None, Deadline(_LIMIT_S, SYSTEM.monotonic))
    else:
        _read(folder, log, int(what.removeprefix("read")), int(count))


if __name__ == "__main__":
    main()
