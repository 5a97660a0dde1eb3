"""What rank processes show of their jobs while a soak runs: three words for each thread, in a shared file."""

from __future__ import annotations

import mmap
from pathlib import Path
from types import TracebackType

__all__ = ("RANKS", "THREADS", "Words")

RANKS, THREADS = 4, 2
_EACH = 3


class Words:
    """Of each thread of each rank: does it touch what a pause protects, jobs begun, jobs whose result is posted."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if create:
            path.write_bytes(bytes(8 * _EACH * RANKS * THREADS))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._words = memoryview(self._map).cast("q")

    def busy(self, rank: int, thread: int, busy: bool) -> None:
        """The thread begins or ends to touch it."""
        self._words[self._of(rank, thread)] = busy

    def begun(self, rank: int, thread: int) -> int:
        """A job begins; returns its number."""
        self._words[self._of(rank, thread) + 1] += 1
        return self._words[self._of(rank, thread) + 1]

    def posted(self, rank: int, thread: int) -> None:
        """The job's result has been posted."""
        self._words[self._of(rank, thread) + 2] += 1

    def fresh(self, rank: int) -> None:
        """Another process is to be the rank."""
        for index in range(self._of(rank, 0), self._of(rank + 1, 0)):
            self._words[index] = 0

    def busy_threads(self) -> list[tuple[int, int]]:
        """Return the threads that touch it."""
        return [who for who in _everyone() if self._words[self._of(*who)]]

    def counts(self, rank: int) -> list[tuple[int, int]]:
        """Return (begun, posted) of each thread of a rank."""
        places = [self._of(rank, thread) for thread in range(THREADS)]
        return [(self._words[place + 1], self._words[place + 2]) for place in places]

    def all_begun(self) -> int:
        """Return how many jobs have begun in the processes that are there."""
        return sum(self._words[self._of(*who) + 1] for who in _everyone())

    def __enter__(self) -> Words:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._words.release()
        self._map.close()

    def _of(self, rank: int, thread: int) -> int:
        return _EACH * (rank * THREADS + thread)


def _everyone() -> list[tuple[int, int]]:
    return [(rank, thread) for rank in range(RANKS) for thread in range(THREADS)]
