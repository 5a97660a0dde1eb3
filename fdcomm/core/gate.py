"""The gate protocol as a pure object: every rank answers a request once, and the N answers are collected together.

One method per action of ``spec/gate.toml`` (``tla/gate/Gate.tla``). Answers are keyed by the request that they
answer, so a rank that is one request ahead, or has passed over one, cannot be counted for the wrong round.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fdcomm.core.members import Members
from fdcomm.errors import ConfigError

__all__ = ("Ended", "Gate", "Put", "Round")

A = TypeVar("A")


@dataclass(slots=True, eq=False)
class Round(Generic[A]):
    """An open round.

    Attributes:
        opened_at: The host's clock when the first answer came.
        answers: Rank -> answer.
        without: Ranks that can answer no more: they were lost when the round began, or since.
    """

    key: Hashable
    opened_at: float
    answers: dict[int, A] = field(default_factory=dict)
    without: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Put:
    """An answer was accepted. ``all_put``: it completed its round."""

    all_put: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """A round that was given up: its key, the ranks that had not answered, and those of them that were lost."""

    key: Hashable
    opened_at: float
    missing: tuple[int, ...]
    lost: tuple[int, ...]


class Gate(Members, Generic[A]):
    """Rounds of answers of ``ranks`` ranks.

    Args:
        ranks: Number of ranks.
        capacity: Rounds that may be open at once.
        max_late: Answers that one rank may owe to rounds that ended without it; beyond it the oldest is forgotten.
    """

    def __init__(self, ranks: int, capacity: int = 64, max_late: int = 256) -> None:
        if min(ranks, capacity, max_late) < 1:
            raise ConfigError(f"num_client={ranks}, capacity={capacity} and max_late={max_late} must be at least 1")
        super().__init__(ranks)
        self.capacity = capacity
        self.max_late = max_late
        # Invariants DifferentKeys, Bounded: different keys, at most `capacity` rounds.
        self.rounds: list[Round[A]] = []
        self.late: list[deque[Hashable]] = [deque(maxlen=max_late) for _ in range(ranks)]

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: somebody answers for the rank."""
        self._come(rank)

    def leave(self, rank: int) -> None:
        """Leave: the handle closed in peace. Another one may go on for the rank."""
        self._require_live(rank, "Leave")
        self.live.discard(rank)

    def fence(self, rank: int) -> None:
        """Fence: the process is gone. What it has not answered it never will."""
        self._require_live(rank, "Fence")
        self.live.discard(rank)
        self._lose(rank)

    def vanish(self, rank: int) -> None:
        """Vanish: the process is gone before its first answer. What it has taken elsewhere it never answers."""
        self._require_away(rank, "Vanish")
        self._lose(rank)

    def reappear(self, rank: int) -> bool:
        """Reappear: a handle opened that may answer for a lost rank. Returns False when the rank was not lost."""
        return self._find(rank)

    # -- answers -------------------------------------------------------------------------------------------------

    def put_answer(self, rank: int, key: Hashable, answer: A, now: float) -> Put | None:
        """PutAnswer. None when the answer is late, or has to wait: for room, or for the end of the key's open round."""
        self._require_live(rank, "PutAnswer")
        if key in self.late[rank]:
            return None
        here = next((round_ for round_ in self.rounds if round_.key == key), None)
        if here is None:
            if len(self.rounds) >= self.capacity:
                return None
            here = Round(key, now, without=set(self.lost))
            self.rounds.append(here)
        elif rank in here.answers or rank in here.without:
            return None
        here.answers[rank] = answer
        return Put(len(here.answers) == self.ranks)

    def refuse_late(self, rank: int, key: Hashable) -> bool:
        """RefuseLate: True when a round with this key has ended without the rank. Each such round refuses once."""
        self._require_live(rank, "RefuseLate")
        if key not in self.late[rank]:
            return False
        self.late[rank].remove(key)
        return True

    # -- the engine ----------------------------------------------------------------------------------------------

    def collect(self) -> Round[A] | None:
        """Collect: the oldest settled round, if it is complete. It leaves the gate."""
        settled = self._settled()
        if settled is None or settled.without:
            return None
        self.rounds.remove(settled)
        return settled

    def end_lost(self) -> Ended | None:
        """EndLost: give up the oldest settled round, if it lacks a rank that was lost."""
        settled = self._settled()
        return self._end(settled) if settled is not None and settled.without else None

    def end_timeout(self) -> Ended | None:
        """EndTimeout: give up the oldest round, if it still waits for answers. The host knows the time limit."""
        pending = self.pending()
        return self._end(pending) if pending is not None else None

    def pending(self) -> Round[A] | None:
        """Return the oldest round if it waits for answers that may still come."""
        first = self.rounds[0] if self.rounds else None
        return first if first is not None and not self._is_settled(first) else None

    def missing(self, round_: Round[A]) -> tuple[int, ...]:
        """Return the ranks that have not answered a round."""
        return tuple(rank for rank in range(self.ranks) if rank not in round_.answers)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _lose(self, rank: int) -> None:
        self.lost.add(rank)
        self.late[rank].clear()
        for round_ in self.rounds:
            if rank not in round_.answers:
                round_.without.add(rank)

    def _is_settled(self, round_: Round[A]) -> bool:
        return bool(round_.without) or len(round_.answers) == self.ranks

    def _settled(self) -> Round[A] | None:
        return next((round_ for round_ in self.rounds if self._is_settled(round_)), None)

    def _end(self, round_: Round[A]) -> Ended:
        self.rounds.remove(round_)
        missing = self.missing(round_)
        for rank in missing:
            if rank not in round_.without:
                self.late[rank].append(round_.key)
        return Ended(round_.key, round_.opened_at, missing, tuple(sorted(round_.without)))
