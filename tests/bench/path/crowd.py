"""Processes that compute without a pause, one on each processor: ``with crowded():``."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from tests.bench.path.board import die_with_parent
from tests.races.pipes import ROOT, read_line

__all__ = ("crowded",)


@contextlib.contextmanager
def crowded() -> Iterator[list[int]]:
    """Keep every processor busy; yields the process ids."""
    with contextlib.ExitStack() as undo:
        processes = []
        for _ in range(len(os.sched_getaffinity(0))):
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.bench.path.crowd"], stdout=subprocess.PIPE, bufsize=0, cwd=ROOT
            )
            undo.enter_context(process)  # waits for it, after it was killed
            undo.callback(process.kill)
            processes.append(process)
        for process in processes:
            read_line(process)
        yield [process.pid for process in processes]


def _compute() -> None:
    die_with_parent()
    print("0", flush=True)
    while True:
        pass


if __name__ == "__main__":
    _compute()
