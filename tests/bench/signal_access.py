"""``python -m tests.bench.signal_access``: reading, writing and waiting for one element of a signal, side by side."""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from timeit import Timer
from typing import Any

import numpy as np

from fdcomm import IPCSignal
from fdcomm.signals.sequenced import SequencedSignal

__all__ = ("access", "idle_cpu", "main", "wake_ups")

_ROOT = Path(__file__).resolve().parents[2]
_WATCHDOG_S = 60.0

# What is compared, all on one signal: title -> statement. The bare element first.
READS = {"array[0]": "array[0]", "signal.value[0]": "signal.value[0]", "word.get()": "word.get()"}
WRITES = {"array[0] = 7": "array[0] = 7", "signal.value[0] = 7": "signal.value[0] = 7", "word.set(7)": "word.set(7)"}
OTHERS = {
    "int(array[0])": "int(array[0])",
    "word.add(1)": "word.add(1)",
    "word.compare_and_set(0, 0)": "word.compare_and_set(0, 0)",
    "pair.write((7, 31))": "pair.write(values)",
    "pair.read()": "pair.read()",
}


def access(rounds: int, seconds: float) -> dict[str, float]:
    """Return nanoseconds of each statement: the least of the rounds, which go by turns."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-bench-", dir="/dev/shm") as folder:
        with (
            IPCSignal("word", np.zeros(1, np.int32), np.int32, directory=folder) as signal,
            IPCSignal("pair", np.zeros(2, np.int32), np.int32, directory=folder) as two,
        ):
            names = {
                "signal": signal,
                "array": signal.value,
                "word": signal.word(),
                "pair": SequencedSignal(two),
                "values": np.array((7, 31), np.int32),
            }
            timers = {title: Timer(text, globals=names) for title, text in (READS | WRITES | OTHERS).items()}
            once = {title: min(timer.repeat(5, 100)) / 100 for title, timer in timers.items()}
            counts = {title: max(10, int(seconds / taken)) for title, taken in once.items()}
            best: dict[str, float] = {}
            for _ in range(rounds):
                for title, timer in timers.items():
                    taken = timer.timeit(counts[title]) / counts[title] * 1e9
                    best[title] = min(taken, best.get(title, taken))
            return best


def wake_ups(rounds: int) -> list[float]:
    """Return microseconds from a set in one process to the return of a wait in another and back, halved."""
    with _partner("answer", rounds) as (word, begin):
        begin()
        taken = []
        for number in range(1, 2 * rounds, 2):
            start = time.perf_counter()
            word.set(number)
            word.wait_for(lambda value, wanted=number + 1: value == wanted, _WATCHDOG_S)
            taken.append((time.perf_counter() - start) / 2 * 1e6)
        return taken


def idle_cpu(seconds: float) -> float:
    """Return the share of a processor that a waiting thread takes."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-bench-", dir="/dev/shm") as folder:
        with IPCSignal("word", np.zeros(1, np.int32), np.int32, directory=folder) as signal:
            waiter = threading.Thread(target=signal.word().wait_for, args=(bool, _WATCHDOG_S))
            before, start = _cpu(), time.perf_counter()
            waiter.start()
            threading.Event().wait(seconds)
            used, passed = _cpu() - before, time.perf_counter() - start
            signal.word().set(1)
            waiter.join()
            return used / passed


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class _partner:
    """Another process at the same word, as the tests start it."""

    def __init__(self, what: str, count: int) -> None:
        self._what = (what, str(count))

    def __enter__(self) -> tuple[Any, Callable[[], None]]:
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-bench-", dir="/dev/shm")
        folder = self._folder.name
        self._signal = IPCSignal("signal", np.zeros(64, np.int64), np.int64, directory=folder)
        command = [sys.executable, "-m", "tests.multiproc.word_process", folder, *self._what]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT)
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None or json.loads(stdout.readline()) != "ready":
            raise RuntimeError("the other process does not start")
        return self._signal.word(), stdin.close

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._signal.clear()
        self._folder.cleanup()


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.signal_access")
    parser.add_argument("--quick", action="store_true", help="a few seconds")
    quick: bool = parser.parse_args(argv).quick
    found = access(50 if quick else 1000, 0.0003)  # short turns: some are not interrupted, on a busy machine too
    print(f"{'ns':>44} {'/ bare element':>15}")
    for titles, bare in ((READS, "array[0]"), (WRITES, "array[0] = 7"), (OTHERS, "")):
        for title in titles:
            ratio = f"{found[title] / found[bare]:14.2f}x" if bare else ""
            print(f"{title:34} {found[title]:9.0f} {ratio}")
    taken = wake_ups(200 if quick else 2000)
    quantiles = statistics.quantiles(taken, n=100)
    print(f"wake-up of another process, us: median {statistics.median(taken):.0f}, 99% {quantiles[98]:.0f}")
    print(f"a waiter's share of a processor: {100 * idle_cpu(2 if quick else 10):.3f} %")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
