"""Put until all ranks have the batch: runs of every subject by turns, for one number of ranks."""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from tests.bench.clients import HOSTS, open_client
from tests.bench.memory import memory_kib
from tests.bench.reader import MOST, PAGE_BYTES, Reader

__all__ = ("SUBJECTS", "Cell", "Stage", "measure")

SUBJECTS = {
    "shipped tcp": ("shipped tcp", "poll"),
    "shipped unix": ("shipped unix", "poll"),
    "ours": ("ours", "block"),
    "ours, polling": ("ours", "poll"),
}
"""Name -> (host, how its readers wait)."""

_WATCHDOG_S = 120.0


@dataclass
class Cell:
    """One subject at one size: the median of each run, in microseconds."""

    subject: str
    ranks: int
    size: int
    medians: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.medians)


class Stage:
    """A host and its connected readers, idle until a run.

    Attributes:
        host: The host.
        engine: A client of it in this process.
        start_s: How long the host took to start.
        empty_kib: Its memory before any client came.
        reader_kib: How much more it has for each reader.
        facts: What each reader measured of itself.
    """

    def __init__(self, kind: str, ranks: int) -> None:
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as undo:
            undo.callback(self._stack.close)
            start = time.perf_counter()
            self.host = HOSTS[kind](ranks)
            self.start_s = time.perf_counter() - start
            self.empty_kib = memory_kib(self.host.pid())
            self._stack.callback(self.host.stop)
            file = self._stack.enter_context(tempfile.NamedTemporaryFile(prefix="fdcomm-bench-"))
            file.truncate(PAGE_BYTES)
            self._page = self._stack.enter_context(mmap.mmap(file.fileno(), PAGE_BYTES))
            self._words = memoryview(self._page).cast("q")
            self._stack.callback(self._words.release)
            self._acks, ack = os.pipe()
            self._stack.callback(os.close, self._acks)
            self._stack.callback(os.close, ack)
            self.engine: Any = open_client(self.host.orders(0, reads=False))
            self._stack.callback(self.engine.close)
            self.engine.num_tasks()
            before_kib = memory_kib(self.host.pid())
            self.readers: list[Reader] = []
            for rank in range(ranks):
                reader = Reader(self.host.orders(rank, reads=True), file.name, ack)
                self._stack.callback(reader.close)
                self.readers.append(reader)
            self.facts = [reader.wait_ready() for reader in self.readers]
            self.reader_kib = (memory_kib(self.host.pid()) - before_kib) / ranks
            undo.pop_all()

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def run(self, size: int, count: int, mode: str) -> list[float]:
        """Put ``count`` batches, each when all have the one before; return the times in microseconds."""
        if count > MOST:
            raise ValueError(f"at most {MOST} batches in a run")
        words, engine = self._words, self.engine
        payload = os.urandom(size)
        words[0] = 0
        for reader in self.readers:
            reader.run(count, mode)
        starts = []
        for number in range(count):
            batch = ([{"request_id": f"request-{number}", "payload": payload}], number)
            words[0] = number + 1
            starts.append(time.monotonic_ns())
            engine.put_tasks(batch)
            self._wait_for_acks()
        for reader in self.readers:
            reader.wait_done()
        ranks = range(len(self.readers))
        return [
            (max(words[1 + rank * MOST + number] for rank in ranks) - start) / 1000
            for number, start in enumerate(starts)
        ]

    def _wait_for_acks(self) -> None:
        missing = len(self.readers)
        while missing:
            if not select.select([self._acks], [], [], _WATCHDOG_S)[0]:
                raise TimeoutError(f"{missing} readers have not read for {_WATCHDOG_S} s")
            missing -= len(os.read(self._acks, missing))


def measure(ranks: int, sizes: tuple[int, ...], rounds: int, count: int) -> list[Cell]:
    """Return a cell per subject and size. The first run of each is not counted: it opens connections."""
    cells = {(name, size): Cell(name, ranks, size) for size in sizes for name in SUBJECTS}
    with contextlib.ExitStack() as stack:
        stages = {kind: stack.enter_context(Stage(kind, ranks)) for kind in HOSTS}
        for kind, mode in SUBJECTS.values():
            stages[kind].run(64, 3, mode)
        for size in sizes:
            for _ in range(rounds):
                for name, (kind, mode) in SUBJECTS.items():
                    cells[name, size].medians.append(statistics.median(stages[kind].run(size, count, mode)))
    return list(cells.values())
