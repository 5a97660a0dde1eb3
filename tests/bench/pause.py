"""Admission of a job, and a pause while one runs: ours, and a plain lock and condition, as ratios.

``python -m tests.bench.pause``. A pause lasts until the job that runs has ended, then until the rank's report has come
and the call has returned; the plain version is in one process, and has neither.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from fdcomm import EngineCacheQueue, PauseControl
from tests.bench.pause_group import measure_group

__all__ = ("Plain", "Quiescence", "best_us", "measure", "measure_quiescence")


class Plain:
    """One process's own pause, with a lock and a condition: no ranks, no host, no modes."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self.paused = False

    def admit(self) -> None:
        """Wait for the end of a pause, and count."""
        with self._changed:
            while self.paused:
                self._changed.wait()
            self._running += 1

    def done(self) -> None:
        """Count down."""
        with self._changed:
            self._running -= 1
            if not self._running:
                self._changed.notify_all()

    def pause(self) -> None:
        """Let nothing start, and wait until nothing runs."""
        with self._changed:
            self.paused = True
            while self._running:
                self._changed.wait()

    def resume(self) -> None:
        """Let jobs start."""
        with self._changed:
            self.paused = False
            self._changed.notify_all()


class _Pauses(Protocol):
    """What is measured."""

    def pause(self) -> object: ...

    def resume(self) -> object: ...


@dataclass(frozen=True)
class Quiescence:
    """Medians, in milliseconds.

    Attributes:
        job: How long the job ran from the call on.
        ours: How long our pause took.
        plain: How long a pause took with a lock and a condition.
        after: Our pause's return after the end of the job.
        plain_after: The plain one's.
        trip: One round trip to the host, after as long a rest: the threads on both sides have slept.
    """

    job: float
    ours: float
    plain: float
    after: float
    plain_after: float
    trip: float

    def __str__(self) -> str:
        return (
            f"a pause while a job runs for {self.job:.1f} ms more: {self.ours:.2f} ms, {self.ours / self.plain:.2f} of "
            f"a plain condition; it returns {self.after:.2f} ms after the job's end (plain {self.plain_after:.2f}; one "
            f"round trip {self.trip:.2f})"
        )


def _paused_ms(
    pool: ThreadPoolExecutor, admit: Callable[[], Callable[[], object]], pauses: _Pauses, length_s: float
) -> tuple[float, float, float]:
    """Pause while a job runs: how long that took, how long the job still ran, and the difference."""
    started, ended = threading.Event(), [0.0]

    def work() -> None:
        done = admit()
        started.set()
        threading.Event().wait(length_s)
        ended[0] = time.perf_counter()
        done()

    job = pool.submit(work)
    started.wait()
    begin = time.perf_counter()
    pauses.pause()
    end = time.perf_counter()
    job.result()
    pauses.resume()
    return (end - begin) * 1e3, (ended[0] - begin) * 1e3, (end - ended[0]) * 1e3


def _trip_ms(control: PauseControl, rest_s: float) -> float:
    threading.Event().wait(rest_s)
    begin = time.perf_counter()
    control.statistics()
    return (time.perf_counter() - begin) * 1e3


def measure_quiescence(length_s: float = 0.01, count: int = 60) -> Quiescence:
    """Measure pauses while a job of this length runs, ours and plain in turn, in a thread that runs many.

    The first report of a thread opens its connection, which takes a millisecond.
    """
    plain = Plain()

    def admit_plain() -> Callable[[], object]:
        plain.admit()
        return plain.done

    ours: list[tuple[float, float, float]] = []
    theirs: list[tuple[float, float, float]] = []
    trips: list[float] = []
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=1, client_id=0) as queue:
        with PauseControl(queue, rank=True) as rank, ThreadPoolExecutor(1) as pool:

            def admit() -> Callable[[], object]:
                return rank.admit().done

            for _ in range(count):
                ours.append(_paused_ms(pool, admit, rank, length_s))
                theirs.append(_paused_ms(pool, admit_plain, plain, length_s))
                trips.append(pool.submit(_trip_ms, rank, length_s).result())
    (took, job, after), (took_plain, _, after_plain) = (
        [statistics.median(column) for column in zip(*rows, strict=True)] for rows in (ours, theirs)
    )
    return Quiescence(job, took, took_plain, after, after_plain, statistics.median(trips))


def best_us(job: Callable[[], None], runs: int = 200, each: int = 300) -> float:
    """Return microseconds of a job in the best of many short runs: the others were disturbed."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(each):
            job()
        best = min(best, time.perf_counter() - start)
    return best / each * 1e6


def measure(runs: int = 200) -> dict[str, float]:
    """Return microseconds of admit and done, ours and plain; and of a pause and resume of an idle rank."""
    plain = Plain()

    def theirs() -> None:
        plain.admit()
        plain.done()

    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=1, client_id=0) as queue:
        with PauseControl(queue, rank=True) as rank:
            ours_us = best_us(lambda: rank.admit().done(), runs)
            round_us = best_us(lambda: rank.resume(rank.pause()), max(1, runs // 10), 5)
    return {"ours_us": ours_us, "plain_us": best_us(theirs, runs), "pause_and_resume_us": round_us}


if __name__ == "__main__":
    found = measure()
    print(f"admit and done: {found['ours_us']:.2f} us, {found['ours_us'] / found['plain_us']:.2f} of a plain condition")
    print(f"pause and resume of an idle rank: {found['pause_and_resume_us']:.0f} us")
    print(measure_quiescence())
    for ranks in (1, 4):
        print(measure_group(ranks))
