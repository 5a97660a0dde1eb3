"""Threads that do calls: as many as there are calls at once, kept for a while after the last one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from fdcomm.runtime import Runtime

__all__ = ("Workers",)

_IDLE_S = 5.0


class Workers:
    """Runs jobs at once, each in a thread in which nothing else runs: a job may wait for as long as it likes."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime = runtime
        self._name = name
        self._changed = runtime.condition()
        self._jobs: deque[Callable[[], None]] = deque()
        self._idle = 0

    def submit(self, job: Callable[[], None]) -> None:
        """Run a job.

        Raises:
            RuntimeError: No thread can be started. The job is not run.
        """
        with self._changed:
            if self._idle > len(self._jobs):
                self._jobs.append(job)
                self._changed.notify_all()
                return
        self._runtime.spawn(lambda: self._serve(job), self._name)

    def _serve(self, first: Callable[[], None]) -> None:
        job: Callable[[], None] | None = first
        while job is not None:
            job()
            job = self._next()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            self._idle += 1
            try:
                end = self._runtime.monotonic() + _IDLE_S
                while not self._jobs:
                    left = end - self._runtime.monotonic()
                    if left <= 0:
                        return None
                    self._changed.wait(left)
                return self._jobs.popleft()
            finally:
                self._idle -= 1
