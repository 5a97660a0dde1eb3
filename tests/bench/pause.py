"""Admission of a job: ours, and a plain lock and condition, as a ratio: ``python -m tests.bench.pause``."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from fdcomm import EngineCacheQueue, PauseControl

__all__ = ("Plain", "best_us", "measure")


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
