"""What the host knows of a transfer task, and of a client that issued some."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

__all__ = ("Client", "State", "Task", "Vote")

P = TypeVar("P")

State: TypeAlias = Literal["queued", "started", "ok", "failed", "cancelled"]
Vote: TypeAlias = Literal["none", "yes", "no"]


@dataclass(slots=True, eq=False)
class Task(Generic[P]):
    """A task that was issued.

    Attributes:
        number: From 1.
        owner: The client that issued it.
        kind: Ranks do the tasks of one kind in order.
        payload: What the ranks take.
        values: Rank -> what it reported of its success.
        errors: Rank -> what it reported of its failure.
        without: Ranks that will not report.
        busy: Ranks that may be at it.
    """

    number: int
    owner: int
    kind: str
    payload: P
    state: State = "queued"
    values: dict[int, P] = field(default_factory=dict)
    errors: dict[int, P] = field(default_factory=dict)
    without: set[int] = field(default_factory=set)
    busy: set[int] = field(default_factory=set)

    def reported(self, rank: int) -> bool:
        """Return True when the rank has reported."""
        return rank in self.values or rank in self.errors


@dataclass(slots=True)
class Client(Generic[P]):
    """What a client has to get.

    Attributes:
        results: Tasks that have ended, and whose result it has not taken.
        hand: The task whose result it took last, until it has handled it.
        unacknowledged: Tasks that it issued and whose result it has not handled.
        held: Tasks whose result said that ranks may be at them, until it is told that none is.
        settled: Of these, those of which it can be told, in that order.
    """

    results: deque[Task[P]] = field(default_factory=deque)
    hand: Task[P] | None = None
    unacknowledged: int = 0
    held: set[int] = field(default_factory=set)
    settled: deque[int] = field(default_factory=deque)
