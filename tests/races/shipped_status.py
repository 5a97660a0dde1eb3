"""The words of FastDeploy and who writes them: programs that a scenario runs step by step, in the order that it wants.

Written anew from the description of the steps. A program gives way after each access to a word, so that a scenario can
stop it anywhere; a poll that finds nothing gives way with a label that begins with "wait".
"""

from __future__ import annotations

from collections.abc import Generator
from multiprocessing.shared_memory import SharedMemory
from typing import TypeAlias

__all__ = ("CLEARED", "CLEARING", "NORMAL", "UPDATING", "Actor", "ShippedStatus")

NORMAL, UPDATING, CLEARING, CLEARED = 0, 1, -1, -2
_END = {CLEARING: CLEARED, UPDATING: NORMAL}
_POLLS = 50

Program: TypeAlias = Generator[str, None, int]


class Actor:
    """A program under way."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.result: int | None = None
        self.error: Exception | None = None

    @property
    def ended(self) -> bool:
        """True when it has returned or raised."""
        return self.result is not None or self.error is not None

    def run(self, until: str = "") -> bool:
        """Run until it gives way at ``until`` or ends; False when it only polls, and finds nothing."""
        polls = 0
        while not self.ended and polls < _POLLS:
            try:
                label = next(self.program)
            except StopIteration as end:
                self.result = end.value
                return True
            except Exception as error:  # noqa: BLE001 - a thread that ends by it is what a scenario is about
                self.error = error
                return True
            if label == until:
                return True
            polls = polls + 1 if label.startswith("wait") else 0
        return self.ended


class ShippedStatus:
    """Three words in shared memory, as every process of the engine maps them, and the flags of the transfer ranks."""

    def __init__(self, workers: int = 1, movers: int = 2) -> None:
        self.workers, self.movers = workers, movers
        self._memory = SharedMemory(create=True, size=12)
        self._words = memoryview(self._memory.buf or b"").cast("i")
        self.ready = [1] * movers
        self.inflight = [1] * movers
        self.holds = ["full"] * movers
        self._met = {"pause": 0, "resume": 0}

    def __enter__(self) -> ShippedStatus:
        return self

    def __exit__(self, *exc: object) -> None:
        self._words.release()
        self._memory.close()
        self._memory.unlink()

    @property
    def weights(self) -> int:
        """``model_weights_status``."""
        return self._words[0]

    @weights.setter
    def weights(self, value: int) -> None:
        self._words[0] = value

    @property
    def kv(self) -> int:
        """``kv_cache_status``."""
        return self._words[1]

    @kv.setter
    def kv(self, value: int) -> None:
        self._words[1] = value

    @property
    def tree(self) -> int:
        """``prefix_tree_status``."""
        return self._words[2]

    @tree.setter
    def tree(self, value: int) -> None:
        self._words[2] = value

    # -- the API server ------------------------------------------------------------------------------------------

    def clear(self, *, polls: int = 0, tree_first: bool = False) -> Actor:
        """Ask for a clear; with ``polls`` it gives up after so many (404)."""
        return Actor(self._clear(polls, tree_first))

    def _clear(self, polls: int, tree_first: bool) -> Program:
        if self.weights != NORMAL:
            return {CLEARED: 200, CLEARING: 400}.get(self.weights, 403)
        yield "looked"
        if tree_first:
            self.tree = CLEARING
            while self.tree != CLEARED:
                yield "wait for the tree"
        self.weights = CLEARING
        yield "asked"
        waited = 0
        while (self.weights, self.kv) != (CLEARED, CLEARED):
            waited += 1
            if waited == polls:
                return 404
            yield "wait for the cache"
        if not tree_first:
            self.tree = CLEARING
            while self.tree != CLEARED:
                waited += 1
                if waited == polls:
                    return 404
                yield "wait for the tree"
        return 200

    def update(self) -> Actor:
        """Ask for an update."""
        return Actor(self._update())

    def _update(self) -> Program:
        if self.weights != CLEARED:
            return {NORMAL: 200, UPDATING: 400}.get(self.weights, 403)
        self.tree = UPDATING
        while self.tree != NORMAL:
            yield "wait for the tree"
        self.weights = UPDATING
        yield "asked"
        while (self.weights, self.kv) != (NORMAL, NORMAL):
            yield "wait for the cache"
        return 200

    # -- worker ranks --------------------------------------------------------------------------------------------

    def worker(self, rank: int, seen: int, *, write_back: bool = False, cross_wait: bool = False) -> Actor:
        """Act on the word that rank 0 has read and told to all."""
        return Actor(self._worker(rank, seen, write_back, cross_wait))

    def _worker(self, rank: int, seen: int, write_back: bool, cross_wait: bool) -> Program:
        yield "told"
        if write_back and rank == 0:
            self.weights = seen
        if seen not in _END:
            return seen
        self.kv = seen
        yield "written"
        if rank == 0:
            while cross_wait and seen == UPDATING and self.kv != NORMAL:
                yield "wait for the cache"
            self.weights = _END[seen]
            return seen
        while self.weights != _END[seen]:
            yield "wait for rank 0"
        return seen

    # -- transfer ranks ------------------------------------------------------------------------------------------

    def mover(self, rank: int, *, fails: bool = False, cross_wait: bool = False) -> Actor:
        """Look at the word of the cache, and act on it, for ever."""
        return Actor(self._mover(rank, fails, cross_wait))

    def _mover(self, rank: int, fails: bool, cross_wait: bool) -> Program:
        while True:
            if self.kv == CLEARING:
                yield from self._meet("pause")
                self.inflight[rank] = 0
                yield "paused"
                if fails:
                    yield "logged"  # and looks again
                    continue
                self.holds[rank], self.ready[rank] = "empty", 0
                while sum(self.ready):
                    yield "wait for all to clear"
                yield "all are down"
                self.kv = CLEARED
                yield "said cleared"
            elif self.kv == UPDATING:
                self.holds[rank], self.ready[rank] = "full", 1
                yield "restored"
                while sum(self.ready) < self.movers:
                    yield "wait for all to restore"
                yield from self._meet("resume")
                self.inflight[rank] = 1
                while cross_wait and self.weights != NORMAL:
                    yield "wait for the weights"
                self.kv = NORMAL
                yield "said normal"
            else:
                yield "wait for a request"

    def _meet(self, barrier: str) -> Generator[str, None, None]:
        full = (self._met[barrier] // self.movers + 1) * self.movers
        self._met[barrier] += 1
        while self._met[barrier] < full:
            yield f"wait for the {barrier}"

    # -- the thread of the prefix tree ---------------------------------------------------------------------------

    def tree_thread(self, *, raises: bool = False) -> Actor:
        """Look at the word of the prefix tree, and act on it, for ever."""
        return Actor(self._tree_thread(raises))

    def _tree_thread(self, raises: bool) -> Program:
        while True:
            if self.tree == CLEARING:
                while sum(self.inflight):
                    yield "wait for transfers"
                if raises:
                    raise AssertionError("a block is missing")
                self.tree = CLEARED
                yield "said cleared"
            elif self.tree == UPDATING:
                self.tree = NORMAL
                yield "said normal"
            else:
                yield "wait for a request"
