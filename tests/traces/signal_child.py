"""A process that makes random calls on one signal and notes each step: ``FOLDER NUMBER SEED CALLS KILL TRACE``.

A line has the action, the moment after it (the system's monotonic clock), and the file that the step opened.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import warnings
from typing import Any, Final

from fdcomm import CommTimeoutError, IPCSignal, SignalError
from fdcomm.signals import ipc_signal
from fdcomm.signals.files import Files
from fdcomm.signals.steps import UNSEEN
from fdcomm.testing.faults import Fault, FaultRuntime

__all__ = ("NAME",)

NAME: Final = "traced"


class Seeing(Files):
    """Files that remember which file was opened last."""

    last = 0

    def _opened(self, path: str, flags: int) -> int:
        Seeing.last = 0
        fd = super()._opened(path, flags)
        Seeing.last = os.fstat(fd).st_ino
        return fd


class Noting(FaultRuntime):
    """Writes a line for each step, then does what the fault says."""

    def __init__(self, path: str, faults: list[Fault]) -> None:
        super().__init__(faults)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, action: str, **fields: Any) -> None:
        """Write a line."""
        line = json.dumps({"action": action, "t": time.monotonic_ns(), "file": Seeing.last, **fields})
        os.write(self._fd, f"{line}\n".encode())

    def point(self, name: str) -> None:
        """See :class:`FaultRuntime`."""
        step = name.rpartition(".")[2]
        if step not in UNSEEN and not name.startswith("signal.owner_alive."):
            self.note(step)
        os.sched_yield()  # let the others come between
        super().point(name)


class Caller:
    """Makes the calls. It has at most one attached handle, as the model counts them."""

    def __init__(self, folder: str, runtime: Noting, seed: int) -> None:
        self.folder, self.runtime = folder, runtime
        self.random = random.Random(seed)
        self.owned: list[IPCSignal] = []
        self.attached: IPCSignal | None = None

    def call(self) -> None:
        """Make one call."""
        kind = self.random.choice(("create", "create", "attach", "attach", "close", "clear", "clear"))
        timeout = self.random.choice((0.0, 20.0, 20.0, 20.0))
        if kind == "create":
            insist = self.random.random() < 0.4
            made = self._made("CallCreate", timeout, insist=insist, create=True, replace=insist)
            if made is not None:
                self.owned.append(made)
        elif kind == "attach" and self.attached is None:
            self.attached = self._made("CallAttach", timeout, create=False)
        elif kind == "clear" and self.owned:
            self._clear(self.random.choice(self.owned), timeout)
        elif kind == "close":
            self.close()

    def close(self) -> None:
        """Close a handle, the attached one first."""
        signal = self.attached or (self.owned[0] if self.owned else None)
        if signal is not None:
            inode = signal.segment.found.inode
            signal.close()
            self.runtime.note("Close", file=inode)
            if signal is self.attached:
                self.attached = None
            else:
                self.owned.remove(signal)

    def _made(self, call: str, timeout: float, insist: bool = False, **options: Any) -> IPCSignal | None:
        self.runtime.note(call, insist=int(insist))
        error, made = "", None
        try:
            made = IPCSignal(NAME, shm_size=8, directory=self.folder, runtime=self.runtime, timeout=timeout, **options)
        except (SignalError, CommTimeoutError) as problem:
            error = type(problem).__name__
        self.runtime.note("End", error=error)
        return made

    def _clear(self, signal: IPCSignal, timeout: float) -> None:
        inode = signal.segment.found.inode
        if self.attached is not None and self.attached.segment.found.inode == inode:
            self.close()
        self.runtime.note("CallClear", file=inode)
        error = ""
        try:
            signal.clear(timeout)
            self.owned.remove(signal)
        except CommTimeoutError as problem:
            error = type(problem).__name__
        self.runtime.note("End", error=error)


def main(folder: str, seed: str, calls: str, kill: str, trace: str) -> None:
    """Make the calls, or as many as there are before the kill."""
    warnings.simplefilter("ignore", RuntimeWarning)  # a second segment of the same process
    vars(ipc_signal)["Files"] = Seeing
    point, _, hit = kill.partition(":")
    runtime = Noting(trace, [Fault(point, "kill", int(hit))] if kill else [])
    caller = Caller(folder, runtime, int(seed))
    print(".", end="", flush=True)
    sys.stdin.read()  # until the others are there too
    for _ in range(int(calls)):
        caller.call()
    os._exit(0)  # as the model has it: an end is an end


if __name__ == "__main__":
    main(*sys.argv[1:])
