"""What the measuring itself needs between the writer and its readers: the same for every subject.

A reader stamps CLOCK_MONOTONIC into its own row when it has a batch. The last one to have it - it finds no token of the
batch left - tells the writer, and nobody else does: a writer that slept would otherwise be woken by the first reader,
and take the processor that another one needs.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import time

__all__ = ("LOADS", "MOST", "Board", "cpu_s", "die_with_parent")

LOADS = ("back", "looking", "paced", "flow")
"""How the writer goes on: as soon as all have the batch, asleep until the last reader wakes it; the same, but it looks,
and gives way between two looks; one batch each 2.5 ms, asleep in between; without waiting for anybody."""

MOST = 4096
"""Batches in one run, at most."""

_LOOK_NS = 200_000
_WATCHDOG_S = 120.0
_FORK = multiprocessing.get_context("fork")


class Board:
    """Shared by a writer's process and the readers forked from it."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self._stamps = memoryview(_FORK.RawArray("q", ranks * MOST)).cast("B").cast("q")
        self._complete = memoryview(_FORK.RawArray("q", 1)).cast("B").cast("q")
        self._tokens = _FORK.Semaphore(ranks - 1)
        self._done = _FORK.Semaphore(0)

    def row(self, rank: int) -> memoryview[int]:
        """Return where a rank stamps."""
        return self._stamps[rank * MOST : (rank + 1) * MOST]

    def begin(self) -> None:
        """Prepare a run, while no reader is in one."""
        self._complete[0] = 0

    def arrived(self, index: int) -> None:
        """Say, as a reader, that this rank has the batch of this index in the run, and has checked it."""
        take = self._tokens.acquire
        if take(False):
            return
        for _ in range(self.ranks - 1):
            self._tokens.release()
        self._complete[0] = index + 1
        self._done.release()

    def is_told(self) -> bool:
        """Return whether a last reader has arrived that the writer has not waited for yet."""
        told = self._done.acquire(False)
        if told:
            self._done.release()
        return told

    def wait(self, index: int, *, look: bool) -> None:
        """Wait, as the writer, until all have it. With ``look``, look for 0.2 ms before falling asleep."""
        if look:
            complete, end = self._complete, time.monotonic_ns() + _LOOK_NS
            while complete[0] <= index and time.monotonic_ns() < end:
                os.sched_yield()
        if not self._done.acquire(timeout=_WATCHDOG_S):
            raise TimeoutError(f"not all have batch {index} of the run after {_WATCHDOG_S} s")

    def last(self, index: int) -> int:
        """Return when the last reader had it, in nanoseconds."""
        return max(self._stamps[rank * MOST + index] for rank in range(self.ranks))


def cpu_s(pid: int = 0) -> float:
    """Return the processor time of a process and its threads, those that have ended included; 0 is this process."""
    return time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID if not pid else (~pid << 3) | 2)


def die_with_parent() -> None:
    """Have the kernel end this process when its parent ends, however that ends."""
    pr_set_pdeathsig = 1
    if ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
