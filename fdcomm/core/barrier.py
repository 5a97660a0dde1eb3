"""The barrier protocol as a pure object: a group of named, reusable barriers for the same ranks.

One method per action of ``spec/barrier.toml`` (``tla/barrier/Barrier.tla``), except that ``arrive`` is Arrive, Pass,
Mismatch or Refuse: what a wait meets decides. A rank has at most one wait in a group at a time. So when every rank
waits, and not all at one barrier, nobody is left who could arrive, and all of them are told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fdcomm.errors import ConfigError, ProtocolViolationError, RankError

__all__ = ("Arrival", "BarrierGroup", "Ending", "Outcome", "Position")

Outcome: TypeAlias = Literal["passed", "lost", "mismatch", "broken", "over"]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a rank was, and what its wait said."""

    rank: int
    barrier: str
    label: str
    round: int | None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a wait ended.

    Attributes:
        outcome: What happened. "over": the round that the wait was for had been passed before it.
        round: Number of the barrier's round at that moment; for "passed", the one that was passed.
        positions: For "mismatch": where each rank was.
        ranks: For "lost": the lost ranks.
    """

    outcome: Outcome
    round: int = 0
    positions: tuple[Position, ...] = ()
    ranks: tuple[int, ...] = ()


@dataclass(slots=True)
class Arrival:
    """A rank that waits, or waited: ``ending`` is set once. ``index`` is its place in a round that was passed."""

    at: Position
    ending: Ending | None = None
    index: int = 0


@dataclass(slots=True)
class _Barrier:
    """``arrived``: who waits in the round ``generation``, in order of arrival. Never all ranks (NoCrossWait), all
    with one label (OneLabel)."""

    generation: int = 0
    broken: bool = False
    aborts: int = 0
    arrived: dict[int, Arrival] = field(default_factory=dict)


class BarrierGroup:
    """Barriers ``names`` for ranks ``0 .. ranks - 1``."""

    def __init__(self, names: Iterable[str], ranks: int) -> None:
        if ranks < 1:
            raise ConfigError(f"num_client={ranks} must be at least 1")
        self.ranks = ranks
        self.live: set[int] = set()
        self.lost: set[int] = set()
        self.names = tuple(names)
        self._barriers = {name: _Barrier() for name in self.names}

    # -- reads ---------------------------------------------------------------------------------------------------

    def generation(self, barrier: str) -> int:
        """Return how often the barrier has been passed: the number of the round that is under way."""
        return self._at(barrier).generation

    def broken(self, barrier: str) -> bool:
        """Return True after an abort, until it is undone."""
        return self._at(barrier).broken

    def aborts(self, barrier: str) -> int:
        """Return how often the barrier was aborted: the number of the newest abort."""
        return self._at(barrier).aborts

    def arrived(self, barrier: str) -> tuple[int, ...]:
        """Return the ranks that wait in the current round, in order of arrival."""
        return tuple(self._at(barrier).arrived)

    def missing(self, barrier: str) -> tuple[int, ...]:
        """Return the ranks that the current round waits for."""
        arrived = self._at(barrier).arrived
        return tuple(rank for rank in range(self.ranks) if rank not in arrived)

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: somebody waits for the rank for the first time."""
        if not 0 <= rank < self.ranks:
            raise RankError(f"rank {rank} is outside 0 <= rank < {self.ranks}")
        if rank in self.live:
            raise ProtocolViolationError(f"Join: rank {rank} is live already")
        self.lost.discard(rank)
        self.live.add(rank)

    def leave(self, rank: int) -> None:
        """Leave: the handle closed. Its arrival, from another thread, is withdrawn."""
        self._require_live(rank, "Leave")
        self.live.discard(rank)
        self._withdraw(rank)

    def fence(self, rank: int) -> None:
        """Fence: the process is gone. No round can complete without it, so every wait ends."""
        self._require_live(rank, "Fence")
        self.live.discard(rank)
        self.lost.add(rank)
        self._withdraw(rank)
        for barrier in self._barriers.values():
            self._end(barrier, Ending("lost", barrier.generation, ranks=tuple(sorted(self.lost))))

    # -- waits ---------------------------------------------------------------------------------------------------

    def arrive(self, rank: int, barrier: str, label: str = "", round: int | None = None) -> Arrival:
        """Arrive, Pass, Mismatch or Refuse. The arrival has an ending unless the rank has to wait.

        Args:
            rank: Who arrives.
            barrier: Where.
            label: What the round is for. All ranks of a round say the same.
            round: The round that the wait is for, where the caller counts by itself.
        """
        self._require_live(rank, "Arrive")
        here = self._at(barrier)
        waits = self._waiting().get(rank)
        if waits is not None:
            raise ProtocolViolationError(
                f"{barrier}.wait: rank {rank} waits at {waits.at.barrier} already, in another thread; a rank has one "
                "wait at a time among barriers that it uses in turn"
            )
        arrival = Arrival(Position(rank, barrier, label, round))
        refused = self._refusal(here, round)
        if refused is not None:
            arrival.ending = refused
        elif (round is not None and round > here.generation) or any(
            other.at.label != label for other in here.arrived.values()
        ):
            self._mismatch(arrival)
        elif len(here.arrived) == self.ranks - 1:
            here.arrived[rank] = arrival
            for index, other in enumerate(here.arrived.values()):
                other.index = index
            self._end(here, Ending("passed", here.generation))
            here.generation += 1
        elif len(self._waiting()) == self.ranks - 1:
            self._mismatch(arrival)
        else:
            here.arrived[rank] = arrival
        return arrival

    def timeout(self, rank: int) -> bool:
        """Timeout: take the rank's waiting arrival back; False when it waits nowhere."""
        return self._withdraw(rank)

    # -- abort, reset --------------------------------------------------------------------------------------------

    def abort(self, barrier: str) -> bool:
        """Abort: end the waits at the barrier, and refuse new ones. False when it is broken already."""
        here = self._at(barrier)
        if here.broken:
            return False
        here.broken = True
        here.aborts += 1
        self._end(here, Ending("broken", here.generation))
        return True

    def reset(self, barrier: str, abort: int) -> bool:
        """Reset: undo the abort of that number. False, and nothing changes, unless it is the newest and in force."""
        here = self._at(barrier)
        if not here.broken or abort != here.aborts:
            return False
        here.broken = False
        return True

    # -- helpers -------------------------------------------------------------------------------------------------

    def _at(self, barrier: str) -> _Barrier:
        try:
            return self._barriers[barrier]
        except KeyError:
            raise ProtocolViolationError(
                f"there is no barrier {barrier!r} here, only {', '.join(self.names)}"
            ) from None

    def _require_live(self, rank: int, action: str) -> None:
        if rank not in self.live:
            raise ProtocolViolationError(f"{action}: rank {rank} is not live")

    def _waiting(self) -> dict[int, Arrival]:
        return {rank: arrival for barrier in self._barriers.values() for rank, arrival in barrier.arrived.items()}

    def _refusal(self, here: _Barrier, round: int | None) -> Ending | None:
        if self.lost:
            return Ending("lost", here.generation, ranks=tuple(sorted(self.lost)))
        if here.broken:
            return Ending("broken", here.generation)
        if round is not None and round < here.generation:
            return Ending("over", here.generation)
        return None

    def _mismatch(self, arrival: Arrival) -> None:
        everybody = [*self._waiting().values(), arrival]
        positions = tuple(sorted((other.at for other in everybody), key=lambda at: at.rank))
        for barrier in self._barriers.values():
            barrier.arrived.clear()
        for other in everybody:
            other.ending = Ending("mismatch", self._at(other.at.barrier).generation, positions)

    def _withdraw(self, rank: int) -> bool:
        found = [barrier.arrived.pop(rank, None) for barrier in self._barriers.values()]
        return any(arrival is not None for arrival in found)

    @staticmethod
    def _end(barrier: _Barrier, ending: Ending) -> None:
        for arrival in barrier.arrived.values():
            arrival.ending = ending
        barrier.arrived.clear()
