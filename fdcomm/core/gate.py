"""The gate protocol as a pure object: every rank answers a request once, and the N answers are collected together.

One method per action of ``spec/gate.toml`` (``tla/gate/Gate.tla``). Answers are keyed by the request that they
answer, so a rank that is one request ahead, or has skipped one, cannot be counted for the wrong round.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fdcomm.errors import ConfigError, ProtocolViolationError, RankError

__all__ = ("Gate", "Put", "Round")

A = TypeVar("A")


@dataclass(slots=True)
class Round(Generic[A]):
    """An open round. ``opened_at`` is the host's clock when its first answer came."""

    key: Hashable
    opened_at: float
    answers: dict[int, A] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Put:
    """What became of an answer: it was late for a round that had ended, or it completed its round, or neither."""

    late: bool
    all_put: bool


class Gate(Generic[A]):
    """Rounds of answers of ``ranks`` ranks; at most ``capacity`` rounds are open."""

    def __init__(self, ranks: int, capacity: int = 64) -> None:
        if ranks < 1 or capacity < 1:
            raise ConfigError(f"num_client={ranks} and capacity={capacity} must be at least 1")
        self.ranks = ranks
        self.capacity = capacity
        self.live: set[int] = set()
        self.lost: set[int] = set()
        # Invariants OncePerRound, Bounded: different keys, at most `capacity` rounds.
        self.rounds: list[Round[A]] = []
        self.late: list[set[Hashable]] = [set() for _ in range(ranks)]

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: somebody answers for the rank for the first time."""
        if not 0 <= rank < self.ranks:
            raise RankError(f"rank {rank} is outside 0 <= rank < {self.ranks}")
        if rank in self.lost:
            self.lost.discard(rank)
            self.late[rank].clear()
        self.live.add(rank)

    def leave(self, rank: int) -> None:
        """Leave: the handle closed."""
        self.live.discard(rank)

    def fence(self, rank: int) -> None:
        """Fence: the process is gone."""
        self.live.discard(rank)
        self.lost.add(rank)

    # -- answers -------------------------------------------------------------------------------------------------

    def put_answer(self, rank: int, key: Hashable, answer: A, now: float) -> Put | None:
        """PutAnswer or RefuseLate. None when the rank has to wait for room, or for its last round."""
        if rank not in self.live:
            raise ProtocolViolationError(f"PutAnswer: rank {rank} is not live")
        if key in self.late[rank]:
            self.late[rank].discard(key)
            return Put(late=True, all_put=False)
        here = next((r for r in self.rounds if r.key == key), None)
        if here is None:
            if len(self.rounds) >= self.capacity:
                return None
            here = Round(key, now)
            self.rounds.append(here)
        elif rank in here.answers:
            return None
        here.answers[rank] = answer
        return Put(late=False, all_put=len(here.answers) == self.ranks)

    def collect(self) -> Round[A] | None:
        """Collect: remove and return the oldest complete round."""
        done = next((r for r in self.rounds if len(r.answers) == self.ranks), None)
        if done is not None:
            self.rounds.remove(done)
        return done

    def oldest_incomplete(self) -> Round[A] | None:
        """Return the round that has waited longest for answers."""
        return next((r for r in self.rounds if len(r.answers) < self.ranks), None)

    def missing(self, round_: Round[A]) -> tuple[int, ...]:
        """Return the ranks that have not answered."""
        return tuple(rank for rank in range(self.ranks) if rank not in round_.answers)

    def end_round(self, round_: Round[A]) -> tuple[int, ...]:
        """EndRound: give a round up; returns the ranks that it lacks. Their answers will be refused."""
        missing = self.missing(round_)
        self.rounds.remove(round_)
        for rank in missing:
            if rank not in self.lost:
                self.late[rank].add(round_.key)
        return missing
