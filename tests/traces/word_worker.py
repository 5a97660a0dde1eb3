"""A process that changes a word and records what it does, where the lock makes the order of the records exact.

``python -m tests.traces.word_worker <directory> <name> <log> <process> add|compare <count>``. ``FDCOMM_FAULTS`` may
kill it at a point.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np

from fdcomm import IPCSignal
from fdcomm.runtime import Words
from fdcomm.signals.kernel import SystemKernel
from fdcomm.signals.word import Word
from fdcomm.testing.faults import FaultRuntime


class _Log:
    """Lines of several processes in one file: each is one write to its end, so they do not mix."""

    def __init__(self, path: str, process: int) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._process = process

    def add(self, action: str, **seen: Any) -> None:
        line = json.dumps({"action": action, "process": self._process, **seen})
        os.write(self._fd, f"{line}\n".encode())


class _Runtime(FaultRuntime):
    """Records loads and stores of the element."""

    def __init__(self, log: _Log, store: str) -> None:
        copied = FaultRuntime.from_environment()
        super().__init__(copied._faults.values())
        self._log = log
        self._store = store
        self.data: Any = None

    def load(self, words: Words, index: int) -> int:
        value = super().load(words, index)
        if len(words) == len(self.data) and words.format == self.data.format:
            self._log.add("LoadOld", value=value)
        return value

    def store(self, words: Words, index: int, value: int) -> None:
        super().store(words, index, value)
        if len(words) == len(self.data) and words.format == self.data.format:
            self._log.add(self._store, value=value)


class _Kernel(SystemKernel):
    """Records the lock, while it is held."""

    def __init__(self, log: _Log) -> None:
        super().__init__()
        self._log = log

    def take(self, fd: int, place: int, *, shared: bool) -> bool:
        taken = super().take(fd, place, shared=shared)
        if taken:
            self._log.add("Lock")
        return taken

    def give(self, fd: int, place: int) -> None:
        self._log.add("Unlock")
        super().give(fd, place)


def main() -> None:
    """Change the word."""
    directory, name, path, process, what, count = sys.argv[1:]
    log = _Log(path, int(process))
    runtime = _Runtime(log, "StoreSum" if what == "add" else "StoreIf")
    signal = IPCSignal(name, np.zeros(2, np.int32), np.int32, create=False, directory=directory)
    runtime.data = signal.segment.data().cast("i")
    word = Word(signal.segment, runtime=runtime, kernel=_Kernel(log))
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(int(count)):
        if what == "add":
            word.add(1)
        else:
            word.compare_and_set(0, 10)
    signal.close()


if __name__ == "__main__":
    main()
