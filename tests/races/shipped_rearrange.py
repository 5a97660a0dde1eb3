"""Rearrangements as FastDeploy coordinates them, written anew from its description, for race tests.

Words in shared memory that an API server, an expert manager, loaders and workers read and write by themselves; who is
stopped between two words is said by ``hook``. Nothing is corrected here. The expert manager of rank 0 gets at the
other ranks by messages; here a message is a call that may fail, of which it then only takes note.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Collection

from tests.races.shipped import Stuck

__all__ = ("DOING", "DONE", "FREE", "LOADED", "Loader", "Manager", "Page", "Requester", "Worker")

FREE, DOING, LOADED, DONE = range(4)
_ADDRESSES = 256
Hook = Callable[[str], None]


def _nothing(step: str) -> None:
    del step


class Page:
    """The shared words: status, size, update from tensor; of each rank update from disk and result; then addresses."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self._base = 8 * (3 + 2 * ranks)
        self._map = mmap.mmap(-1, self._base + _ADDRESSES)
        self._words = memoryview(self._map).cast("B")[: self._base].cast("q")

    def get(self, word: int) -> int:
        """Load a word."""
        return self._words[word]

    def set(self, word: int, value: int) -> None:
        """Store a word."""
        self._words[word] = value

    def read(self, size: int) -> str:
        """Read the first bytes of the addresses."""
        return self._map[self._base : self._base + size].decode("latin-1")

    def write(self, text: str) -> None:
        """Write the addresses."""
        self._map[self._base : self._base + len(text)] = text.encode("latin-1")

    def close(self) -> None:
        """Let go of the memory."""
        self._words.release()
        self._map.close()

    STATUS, SIZE, TENSOR = range(3)

    def disk(self, rank: int) -> int:
        """The word by which a rank is told to load."""
        return 3 + 2 * rank

    def result(self, rank: int) -> int:
        """The word by which it says how that went."""
        return 4 + 2 * rank


class Requester:
    """An API server."""

    def __init__(self, page: Page, hook: Hook = _nothing) -> None:
        self.page, self.hook = page, hook

    def request(self, addresses: str) -> bool:
        """Look at the status; write how long the addresses are, then the addresses."""
        if self.page.get(Page.STATUS) != FREE:
            return False
        self.hook("request.size")
        self.page.set(Page.SIZE, len(addresses))
        self.hook("request.addresses")
        self.page.write(addresses)
        return True

    def update(self) -> bool:
        """Allow the update, if the status says that all is loaded."""
        if self.page.get(Page.STATUS) != LOADED:
            return False
        self.page.set(Page.TENSOR, 1)
        return True


class Manager:
    """The expert manager of rank 0. ``out_of_reach``: ranks to which its messages do not come."""

    def __init__(self, page: Page, loaders: list[Loader], hook: Hook = _nothing, out_of_reach: Collection[int] = ()):
        self.page, self.loaders, self.hook = page, loaders, hook
        self.out_of_reach = out_of_reach
        self.log: list[str] = []

    def take(self) -> str | None:
        """Read a request that is there, and say that it is being done."""
        size = self.page.get(Page.SIZE)
        if size == 0:
            return None
        self.hook("take.read")
        addresses = self.page.read(size)
        self.hook("take.clear")
        self.page.set(Page.SIZE, 0)
        self.page.set(Page.STATUS, DOING)
        return addresses

    def tell(self, plan: str) -> None:
        """Tell every rank to load."""
        for rank, loader in enumerate(self.loaders):
            if rank in self.out_of_reach:
                self.log.append(f"rank {rank} is out of reach")
                continue
            loader.plan = plan
            self.page.set(self.page.disk(rank), 1)

    def gather(self, polls: int) -> bool:
        """Poll the results. Who was out of reach is not counted; a failure and impatience end like a success."""
        asked = [rank for rank in range(self.page.ranks) if rank not in self.out_of_reach]
        for _ in range(polls):
            results = [self.page.get(self.page.result(rank)) for rank in asked]
            if -1 in results or all(result == 1 for result in results):
                break
            self.hook("gather.poll")
        return True

    def declare(self) -> None:
        """Say that all is loaded."""
        self.page.set(Page.STATUS, LOADED)

    def reset(self) -> bool:
        """30 seconds later: free the status, whatever the workers do."""
        if self.page.get(Page.STATUS) <= DOING:
            return False
        self.page.set(Page.STATUS, FREE)
        return True


class Loader:
    """The loading part of a rank's expert manager."""

    def __init__(self, page: Page, rank: int, hook: Hook = _nothing) -> None:
        self.page, self.rank, self.hook = page, rank, hook
        self.plan: str | None = None
        self.table: str | None = None
        self.works = True

    def run(self) -> bool:
        """Load, if the rank is told to. False when it is not."""
        if self.page.get(self.page.disk(self.rank)) != 1:
            return False
        plan = self.plan
        self.hook("load.begin")
        self.page.set(self.page.result(self.rank), 0)
        self.hook("load.table")
        if self.works:
            self.table = plan
        self.page.set(self.page.result(self.rank), 1 if self.works else -1)
        self.hook("load.lower")
        self.page.set(self.page.disk(self.rank), 0)
        return True


class Worker:
    """The worker of a rank. Rank 0 looks at the word for all."""

    def __init__(self, page: Page, loader: Loader, hook: Hook = _nothing) -> None:
        self.page, self.loader, self.hook = page, loader, hook
        self.weights: str | None = None

    def told(self) -> bool:
        """Is there an update? Asked by rank 0 only."""
        if self.page.get(Page.TENSOR) != 1:
            return False
        self.page.set(Page.TENSOR, 0)
        return True

    def swap(self, polls: int) -> None:
        """Wait for the table, and put it into the weights."""
        for _ in range(polls):
            if self.loader.table is not None:
                break
        else:
            raise Stuck(f"the worker still waits for a table after {polls} polls")
        self.hook("swap.half")
        self.weights = self.loader.table
        self.loader.table = None

    def finish(self) -> None:
        """After the barrier: rank 0 says that it is done."""
        self.page.set(Page.STATUS, DONE)
