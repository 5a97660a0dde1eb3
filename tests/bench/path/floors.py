"""What limits every way through one machine's memory: the hand-off of a word, pickling, one copy.

``python -m tests.bench.path.floors <turns> <hand-offs> <size>...`` measures and prints JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from tests.bench.path.board import die_with_parent
from tests.races.pipes import ROOT

__all__ = ("floors", "floors_us", "hand_off_us")

_FORK = multiprocessing.get_context("fork")
_WATCHDOG_NS = 30_000_000_000
_SPIN_S = 1.0
_TURN_S = 0.02


def _answer(words: Any, count: int) -> None:
    die_with_parent()
    for number in range(1, count + 1):
        while words[0] < number:
            pass
        words[1] = number


def hand_off_us(count: int) -> list[float]:
    """Return microseconds from a store in one process to the answer of another that spins on it, and back.

    Fewer than ``count`` figures if they take long, as they do on a single processor.
    """
    words = memoryview(_FORK.RawArray("q", 2)).cast("B").cast("q")
    process = _FORK.Process(target=_answer, args=(words, count))
    process.start()
    taken: list[float] = []
    try:
        begin = time.monotonic()
        for number in range(1, count + 1):
            start = time.perf_counter_ns()
            words[0] = number
            while words[1] < number:
                if time.perf_counter_ns() - start > _WATCHDOG_NS:
                    raise TimeoutError("the other process does not answer")
            taken.append((time.perf_counter_ns() - start) / 1e3)
            if time.monotonic() - begin > _SPIN_S:
                break
    finally:
        process.kill()
        process.join()
    return taken


def _each_us(call: Callable[[], object]) -> float:
    """Return microseconds of a call: the median of calls, or groups of fast ones, for 20 ms."""
    start = time.perf_counter_ns()
    call()
    group = max(1, int(20_000 / (time.perf_counter_ns() - start + 1)))
    taken: list[float] = []
    end = time.perf_counter() + _TURN_S
    while time.perf_counter() < end or len(taken) < 3:
        start = time.perf_counter_ns()
        for _ in range(group):
            call()
        taken.append((time.perf_counter_ns() - start) / 1e3 / group)
    return statistics.median(taken)


def floors(sizes: Iterable[int], turns: int, spins: int) -> dict[str, Any]:
    """Return ``hand_off_us`` and for each size ``dumps_us``, ``loads_us``, ``copy_us``: one figure for each turn."""
    sizes = tuple(sizes)
    rows: list[dict[str, Any]] = [{"bytes": size, "dumps_us": [], "loads_us": [], "copy_us": []} for size in sizes]
    found: dict[str, Any] = {"hand_off_us": [], "sizes": rows}
    for _ in range(turns):
        found["hand_off_us"].append(round(statistics.median(hand_off_us(spins)), 3))
        for row in rows:
            batch = [{"number": 1, "kind": "batch"}, os.urandom(row["bytes"])]
            stream = pickle.dumps(batch, 5)
            place = memoryview(bytearray(len(stream)))

            def copy(place: memoryview = place, stream: bytes = stream) -> None:
                place[:] = stream

            kept: list[Any] = [None]

            def load(kept: list[Any] = kept, stream: bytes = stream) -> None:
                kept[0] = pickle.loads(stream)  # the one before is alive until then, as in a reader's loop

            row["dumps_us"].append(round(_each_us(lambda batch=batch: pickle.dumps(batch, 5)), 3))  # type: ignore[misc]
            row["loads_us"].append(round(_each_us(load), 3))
            row["copy_us"].append(round(_each_us(copy), 3))
    return found


def floors_us(sizes: Iterable[int], turns: int, spins: int) -> dict[str, Any]:
    """Measure in an interpreter of its own."""
    command = [sys.executable, "-m", "tests.bench.path.floors", *map(str, (turns, spins, *sizes))]
    ended = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, timeout=300, check=True)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


if __name__ == "__main__":
    die_with_parent()
    print(json.dumps(floors([int(size) for size in sys.argv[3:]], int(sys.argv[1]), int(sys.argv[2]))))
