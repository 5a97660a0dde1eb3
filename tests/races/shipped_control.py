"""FastDeploy's control requests, written anew from the description of their steps.

Engine and ranks are objects of one process: only the order of the steps matters. A request goes into the list of
batches; every rank answers into a pipe of its own, from which the engine reads one message, and then meets the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

__all__ = ("LATE", "ShippedEngine", "ShippedRank")

LATE = "no answer in time"


class ShippedEngine:
    """The engine's side.

    Args:
        ranks: Number of ranks.
        abort: Ends what runs.
    """

    def __init__(self, ranks: int, abort: Callable[[], None] = lambda: None) -> None:
        self.ranks = [ShippedRank(self) for _ in range(ranks)]
        self.is_paused = False
        self.ignored: list[int] = []
        self.met: list[list[int]] = []
        self._abort = abort
        self._asked = 0

    # -- the list of batches ---------------------------------------------------------------------------------------

    def is_empty(self) -> bool:
        """Every rank has read every batch."""
        return not any(rank.unread for rank in self.ranks)

    def put(self, batch: Any) -> None:
        """Put a batch for every rank."""
        for rank in self.ranks:
            rank.unread.append(batch)

    # -- a request -------------------------------------------------------------------------------------------------

    def begin_pause(self) -> None:
        """Mark the engine paused, then end what runs."""
        self.is_paused = True
        self._abort()

    def ask(self) -> int:
        """Put the request that was waited for, and return its number."""
        self._asked += 1
        self.put(("control", self._asked))
        return self._asked

    def gather(self, number: int) -> Any:
        """Read one message of each rank. A message about another request is logged and ignored."""
        responses = []
        for rank in self.ranks:
            if not rank.pipe:
                return LATE
            about, value = rank.pipe.popleft()
            if about == number:
                responses.append(value)
            else:
                self.ignored.append(about)
        return responses


class ShippedRank:
    """A worker's loop, one step a call."""

    def __init__(self, engine: ShippedEngine) -> None:
        self.unread: deque[Any] = deque()
        self.pipe: deque[tuple[int, Any]] = deque()
        self.ran: list[Any] = []
        self.waits_with = 0
        self._engine = engine

    def step(self, value: Any = "done", *, raises: bool = False) -> None:
        """Read one batch and run it. ``raises``: an error outside the handler ends this turn of the loop."""
        if self.waits_with:
            return  # at the barrier
        batch = self.unread.popleft()
        self.ran.append(batch)
        if not (isinstance(batch, tuple) and batch[0] == "control"):
            return
        self.pipe.append((batch[1], value))
        if raises:
            return
        self.waits_with = batch[1]
        waiting = [rank.waits_with for rank in self._engine.ranks]
        if all(waiting):
            self._engine.met.append(waiting)
            for rank in self._engine.ranks:
                rank.waits_with = 0
