"""A process at one signal: ``python -m tests.multiproc.word_process <directory> <what> ...``.

``FDCOMM_FAULTS`` may kill it. It prints ``ready`` and waits for a line before it begins, and says at its end what it
saw, as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from fdcomm import IPCSignal
from fdcomm.errors import SignalTornError
from fdcomm.signals.lock import IPCLock
from fdcomm.signals.sequenced import SequencedSignal
from fdcomm.testing.faults import FaultRuntime

CELLS = 64
_WATCHDOG_S = 60.0

runtime = FaultRuntime.from_environment()


def _open(directory: str) -> IPCSignal:
    template = np.zeros(CELLS, np.int64)
    return IPCSignal("signal", template, np.int64, create=False, directory=directory, runtime=runtime)


def _begin() -> None:
    print(json.dumps("ready"), flush=True)
    sys.stdin.readline()


def add(directory: str, count: str) -> Any:
    """Add 1 so often."""
    word = _open(directory).word()
    _begin()
    for _ in range(int(count)):
        word.add(1, _WATCHDOG_S)
    return int(count)


def write(directory: str, first: str, count: str) -> Any:
    """Write first, first + 1, .. into all cells."""
    signal = SequencedSignal(_open(directory), runtime=runtime)
    _begin()
    for number in range(int(first), int(first) + int(count)):
        signal.write(np.full(CELLS, number), _WATCHDOG_S)
    return int(count)


def read(directory: str, last: str) -> Any:
    """Read until the last write, or a torn one; every read must be of one write, and no older than the one before."""
    signal = SequencedSignal(_open(directory), runtime=runtime)
    _begin()
    newest = reads = 0
    while newest < int(last):
        try:
            got = set(signal.read(_WATCHDOG_S).tolist())
        except SignalTornError as error:
            return {"reads": reads, "torn": str(error)}
        if len(got) != 1 or min(got) < newest:
            return {"wrong": sorted(got), "after": newest}
        newest = got.pop()
        reads += 1
    return {"reads": reads}


def put(directory: str, value: str) -> Any:
    """Set once."""
    word = _open(directory).word()
    _begin()
    word.set(int(value))
    return int(value)


def wait(directory: str, value: str) -> Any:
    """Wait for a value."""
    word = _open(directory).word()
    _begin()
    return word.wait_for(lambda found: found == int(value), _WATCHDOG_S)


def answer(directory: str, rounds: str) -> Any:
    """Wait for each odd number, and set the next even one."""
    word = _open(directory).word()
    _begin()
    for number in range(1, 2 * int(rounds), 2):
        word.wait_for(lambda found, wanted=number: found == wanted, _WATCHDOG_S)  # type: ignore[misc]
        word.set(number + 1)
    return int(rounds)


def lock(directory: str, count: str) -> Any:
    """Under the lock, add 1 plainly."""
    value, mutex = _open(directory).value, IPCLock("lock", directory=directory, runtime=runtime)
    assert value is not None
    _begin()
    for _ in range(int(count)):
        mutex.acquire(timeout=_WATCHDOG_S)
        value[0] += 1
        runtime.point("test.locked")
        mutex.release()
    return int(count)


_PROGRAMS: dict[str, Callable[..., Any]] = {
    program.__name__: program for program in (add, write, read, put, wait, answer, lock)
}

if __name__ == "__main__":
    print(json.dumps(_PROGRAMS[sys.argv[2]](sys.argv[1], *sys.argv[3:])), flush=True)
