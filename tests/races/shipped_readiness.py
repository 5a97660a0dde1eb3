"""FastDeploy's words of readiness and health, and who reads and writes them, step by step under a clock of the test.

Written anew from the description of the steps. The words are in real shared memory, as every process of an engine maps
them; a process is its memory of what it is, so that a scenario can kill it, stop it and start it again anywhere.
"""

from __future__ import annotations

from multiprocessing.shared_memory import SharedMemory

__all__ = ("LIMIT_S", "Process", "ShippedReadiness")

LIMIT_S = 30
"""FD_WORKER_ALIVE_TIMEOUT."""


class Process:
    """A worker or transfer process of one rank."""

    def __init__(self, words: ShippedReadiness, rank: int) -> None:
        self._words = words
        self.rank = rank
        self.alive, self.runs, self.loaded = True, True, False

    def zero(self) -> None:
        """What it does first: lower the flag of its rank."""
        self._words.ready[self.rank] = 0

    def load(self) -> None:
        """Load, and raise the flag."""
        self.loaded = True
        self._words.ready[self.rank] = 1

    def loop(self) -> None:
        """One round of the loop: it begins with the time, as an int32 of unix seconds."""
        if self.alive and self.runs:
            self._words.beat[self.rank] = self._words.now

    def kill(self) -> None:
        """SIGKILL. Its words stay."""
        self.alive = False

    def end(self) -> None:
        """It ends because of an error, and says so."""
        self.alive = False
        self._words.told.append(f"rank {self.rank} ends")

    def serve(self) -> None:
        """Answer what was accepted."""
        while self.alive and self._words.accepted:
            self._words.answered.append(self._words.accepted.pop(0))


class ShippedReadiness:
    """A flag and a time for each rank."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.now = 1_700_000_000
        self.processes: list[Process] = []
        self.told: list[str] = []
        self.accepted: list[str] = []
        self.answered: list[str] = []
        self._memory = SharedMemory(create=True, size=8 * ranks)
        whole = memoryview(self._memory.buf or b"").cast("i")
        self.ready, self.beat = whole[:ranks], whole[ranks : 2 * ranks]
        self._whole = whole

    def __enter__(self) -> ShippedReadiness:
        return self

    def __exit__(self, *exc: object) -> None:
        for view in (self.ready, self.beat, self._whole):
            view.release()
        self._memory.close()
        self._memory.unlink()

    def start(self, rank: int, *, loads: bool = True) -> Process:
        """Start a process; with ``loads`` it comes up at once."""
        process = Process(self, rank)
        self.processes.append(process)
        process.zero()
        if loads:
            process.load()
        return process

    def launched(self) -> bool:
        """One look of the launcher: the sum of the flags is the number of ranks."""
        return sum(self.ready) == self.ranks

    def launch(self, looks: int) -> bool:
        """Look so many times, which stand for ever; False: the launcher still waits."""
        return any(self.launched() for _ in range(looks))

    def healthy(self) -> bool:
        """The health check: the time of rank 0 is zero, or not too old."""
        last = self.beat[0]
        return last == 0 or self.now - last < LIMIT_S

    def healthy_by_messages(self) -> bool:
        """Another health check: no process has said that it ends."""
        return not self.told

    def healthy_by_exits(self) -> bool:
        """A third one: no process has ended."""
        return all(process.alive for process in self.processes)

    def accept(self, request: str) -> None:
        """The API server takes a request, once everything was launched. It looks at nothing."""
        self.accepted.append(request)
