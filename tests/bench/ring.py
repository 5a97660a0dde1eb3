"""``python -m tests.bench.ring``: the ring beside a pipe for each reader, in one run, by turns.

Readers count what they have in shared memory, and the writer looks there before it goes on.

A batch is a list of a dict and bytes of the size. Measured is the time from the beginning of the put to the moment at
which the last reader has the object; processor time is that of all processes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pickle
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fdcomm.ring import RingReader, RingWriter

__all__ = ("SUBJECTS", "Cell", "idle_cpu", "main", "measure")

_FORK = multiprocessing.get_context("fork")
_WATCHDOG_S = 60.0
_PAUSE_S = 0.0025
RANKS = (1, 2, 4)
SIZES = (64, 4096, 32768, 262144, 4 << 20)
SUBJECTS = ("ring, depth 1", "ring, depth 8", "pipes")


@dataclass(frozen=True)
class Cell:
    """Microseconds of one subject, and how many a second when nobody waits for the readers."""

    subject: str
    ranks: int
    size: int
    paced: bool
    median_us: float
    p90_us: float
    cpu_us: float


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _read(get: Callable[[], Any], done: Any, rank: int, count: int, size: int, to: Connection) -> None:
    times = []
    to.send("ready")
    begin = _cpu_s()
    for number in range(count):
        batch = get()
        times.append(time.monotonic_ns())
        done[rank] = number + 1
        if batch[0]["number"] != number or len(batch[1]) != size:
            raise RuntimeError(f"got {batch[0]} instead of {number}")
    to.send((times, _cpu_s() - begin))


def _ring_reader(name: str, done: Any, rank: int, count: int, size: int, to: Connection) -> None:
    with RingReader.attach(name, rank) as reader:
        _read(lambda: reader.get(_WATCHDOG_S), done, rank, count, size, to)


def _pipe_reader(source: Connection, done: Any, rank: int, count: int, size: int, to: Connection) -> None:
    _read(lambda: pickle.loads(source.recv_bytes()), done, rank, count, size, to)


def _pause(until: float) -> None:
    left = until - time.monotonic()
    if left > 0:
        _FORK.Event().wait(left)


def measure(subject: str, ranks: int, size: int, count: int, *, paced: bool) -> Cell:
    """Run one subject once."""
    backs = [_FORK.Pipe(duplex=False) for _ in range(ranks)]
    writer: RingWriter | None = None
    readers: list[Any] = []
    done = _FORK.RawArray("q", ranks)
    if subject == "pipes":
        ways = [_FORK.Pipe(duplex=False) for _ in range(ranks)]
        for rank, ((source, _), (_, to)) in enumerate(zip(ways, backs, strict=True)):
            readers.append(_FORK.Process(target=_pipe_reader, args=(source, done, rank, count, size, to)))

        def put(batch: Any) -> None:
            stream = pickle.dumps(batch, 5)
            for _, sink in ways:
                sink.send_bytes(stream)

    else:
        name = f"bench-ring-{os.getpid()}"
        writer = RingWriter.create(name, ranks, depth=8 if subject.endswith("8") else 1)
        for rank, (_, to) in enumerate(backs):
            readers.append(_FORK.Process(target=_ring_reader, args=(name, done, rank, count, size, to)))
        put = writer.put  # type: ignore[assignment]
    try:
        for process in readers:
            process.start()
        for back, _ in backs:
            if not back.poll(_WATCHDOG_S) or back.recv() != "ready":
                raise RuntimeError("a reader does not start")
        content, starts, spent = os.urandom(size), [], _cpu_s()
        due = time.monotonic()
        for number in range(count):
            if paced:
                due += _PAUSE_S
                _pause(due)
            batch = [{"number": number, "kind": "batch"}, content]
            starts.append(time.monotonic_ns())
            put(batch)
            while min(done) <= number:
                os.sched_yield()
        spent = _cpu_s() - spent
        ends = []
        for back, _ in backs:
            if not back.poll(_WATCHDOG_S):
                raise RuntimeError("a reader does not answer")
            times, cpu = back.recv()
            ends.append(times)
            spent += cpu
        for process in readers:
            process.join(_WATCHDOG_S)
    finally:
        for process in readers:
            process.kill()
            process.join()
        if writer is not None:
            writer.close()
    taken = sorted((max(last) - start) / 1000 for start, *last in zip(starts, *ends, strict=True))[:count]
    return Cell(subject, ranks, size, paced, statistics.median(taken), taken[count * 9 // 10], 1e6 * spent / count)


def idle_cpu(seconds: float) -> float:
    """Return which part of a processor a reader uses that waits for that long."""
    name = f"bench-ring-{os.getpid()}"
    here, there = _FORK.Pipe()
    with RingWriter.create(name, 1) as writer:
        process = _FORK.Process(target=_ring_reader, args=(name, _FORK.RawArray("q", 1), 0, 1, 0, there))
        process.start()
        if here.recv() != "ready":
            raise RuntimeError("the reader does not start")
        _pause(time.monotonic() + seconds)
        writer.put([{"number": 0}, b""])
        _, cpu = here.recv()
        process.join(_WATCHDOG_S)
    return float(cpu / seconds)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ring", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and batches")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, by turns; the median of the medians")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    sizes = options.sizes or (SIZES[:2] if options.quick else SIZES)
    cells: list[Cell] = []
    for paced in (False, True):
        print(f"\n{'one each 2.5 ms' if paced else 'back to back'}: µs until all have it, median (p90; processor time)")
        for ranks in options.ranks:
            for size in sizes:
                count = 50 if size > 2**20 else (100 if options.quick or paced else 1000)
                row = []
                for _ in range(options.rounds):
                    row += [measure(subject, ranks, size, count, paced=paced) for subject in SUBJECTS]
                cells += row
                shown = []
                for subject in SUBJECTS:
                    own = [cell for cell in row if cell.subject == subject]
                    median, p90, cpu = (
                        statistics.median(values)
                        for values in zip(*((cell.median_us, cell.p90_us, cell.cpu_us) for cell in own), strict=True)
                    )
                    shown.append(f"{subject}: {median:8.1f} ({p90:8.1f}; {cpu:8.1f})")
                print(f"N={ranks} {size:>8} B  ", "   ".join(shown), flush=True)
    idle = idle_cpu(1.0)
    print(f"\nan idle reader uses {100 * idle:.2f}% of a processor")
    if options.json:
        options.json.write_text(json.dumps({"idle": idle, "cells": [asdict(cell) for cell in cells]}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
