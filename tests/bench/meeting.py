"""``python -m tests.bench.meeting``: rounds of N processes at a meeting, at ``multiprocessing.Barrier``, at a queue's
barrier (in shared memory, and through its host), and at a ``threading.Barrier`` behind manager proxies as FastDeploy's
are, in one run, by turns. Measured is the time of a round, which each process sees, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.managers import BaseManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.meeting import Meeting
from fdcomm.session import DataPathName

__all__ = ("SUBJECTS", "Cell", "main", "measure")

_FORK = multiprocessing.get_context("fork")
_WATCHDOG_S = 120.0
SUBJECTS = ("meeting", "multiprocessing.Barrier", "queue", "queue through its host", "proxies")
_SLOW = ("queue through its host", "proxies")


@dataclass(frozen=True)
class Cell:
    """Microseconds of a round, and processor time of all processes for one."""

    subject: str
    ranks: int
    round_us: float
    cpu_us: float


def _rounds(wait: Callable[[], object], count: int, to: Any) -> None:
    for _ in range(20):
        wait()
    begin, spent = time.perf_counter(), time.process_time()
    for _ in range(count):
        wait()
    to.send(((time.perf_counter() - begin) / count, (time.process_time() - spent) / count))


def _meet(name: str, rank: int, count: int, to: Any) -> None:
    with Meeting.attach(name, rank) as meeting:
        _rounds(lambda: meeting.wait(timeout=_WATCHDOG_S), count, to)


def _plain(barrier: Any, count: int, to: Any) -> None:
    _rounds(lambda: barrier.wait(_WATCHDOG_S), count, to)


class _Manager(BaseManager):
    """A barrier behind proxies, over TCP."""


def _proxied(address: Any, count: int, to: Any) -> None:
    manager: Any = _Manager(address=address, authkey=b"bench")
    manager.connect()
    barrier = manager.barrier()
    _rounds(lambda: barrier.wait(_WATCHDOG_S), count, to)


def _queue(address: Any, ranks: int, rank: int, data_path: DataPathName, count: int, to: Any) -> None:
    queue = EngineWorkerQueue(address=address, is_server=False, num_client=ranks, client_id=rank, data_path=data_path)
    barrier = queue.finish_request_barrier
    _rounds(lambda: barrier.wait(_WATCHDOG_S), count, to)
    queue.close()


def measure(subject: str, ranks: int, count: int) -> Cell:
    """Run one subject once."""
    pipes = [_FORK.Pipe(duplex=False) for _ in range(ranks)]
    owner: Any = None
    targets: list[tuple[Callable[..., None], tuple[Any, ...]]]
    if subject == "meeting":
        name = f"bench-meeting-{os.getpid()}"
        owner = Meeting.create(name, ranks)
        targets = [(_meet, (name, rank)) for rank in range(ranks)]
    elif subject == "proxies":
        barrier = threading.Barrier(ranks)
        _Manager.register("barrier", callable=lambda: barrier)
        manager: Any = _Manager(address=("127.0.0.1", 0), authkey=b"bench", ctx=_FORK)
        manager.start()
        owner = SimpleNamespace(close=manager.shutdown)
        targets = [(_proxied, (manager.address,)) for _ in range(ranks)]
    elif subject in ("queue", "queue through its host"):
        path: DataPathName = "ring" if subject == "queue" else "host"
        owner = EngineWorkerQueue(
            address=("127.0.0.1", 0), is_server=True, num_client=ranks, client_id=-1, data_path=path
        )
        targets = [(_queue, (owner.address, ranks, rank, path)) for rank in range(ranks)]
    else:
        plain = _FORK.Barrier(ranks)
        targets = [(_plain, (plain,)) for _ in range(ranks)]
    processes = [
        _FORK.Process(target=target, args=(*arguments, count, to))
        for (target, arguments), (_, to) in zip(targets, pipes, strict=True)
    ]
    try:
        for process in processes:
            process.start()
        found = []
        for source, _ in pipes:
            if not source.poll(_WATCHDOG_S):
                raise RuntimeError(f"a process at {subject} does not end")
            found.append(source.recv())
        for process in processes:
            process.join(_WATCHDOG_S)
    finally:
        for process in processes:
            process.kill()
            process.join()
        if owner is not None:
            owner.close()
    times, spent = zip(*found, strict=True)
    return Cell(subject, ranks, 1e6 * max(times), 1e6 * sum(spent))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.meeting", description=__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=(2, 4, 8))
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, by turns: their median, and the best one")
    parser.add_argument("--count", type=int, default=1000, help="rounds of a run; a fifth of it for what is slow")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    cells: list[Cell] = []
    for ranks in options.ranks:
        row = []
        for _ in range(options.repeat):
            row += [measure(subject, ranks, options.count // (5 if subject in _SLOW else 1)) for subject in SUBJECTS]
        cells += row
        medians, best, spent = {}, {}, {}
        for subject in SUBJECTS:
            of = [cell for cell in row if cell.subject == subject]
            medians[subject] = statistics.median(cell.round_us for cell in of)
            best[subject] = min(cell.round_us for cell in of)
            spent[subject] = statistics.median(cell.cpu_us for cell in of)
        for subject in SUBJECTS:
            ratio, ratio_best = medians[subject] / medians["meeting"], best[subject] / best["meeting"]
            print(
                f"N={ranks}  {subject:24} {medians[subject]:8.1f} ({ratio:5.1f}x)   {best[subject]:8.1f} "
                f"({ratio_best:5.1f}x)   {spent[subject]:8.1f}",
                flush=True,
            )
    print("µs of a round, median of the runs and the best one (times a meeting's); processor time of all processes")
    if options.json:
        options.json.write_text(json.dumps([asdict(cell) for cell in cells], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
