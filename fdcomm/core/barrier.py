"""The barrier protocol as a pure object: a group of named, reusable barriers for the same ranks.

One method per action of ``spec/barrier.toml`` (``tla/barrier/Barrier.tla``). A group holds the barriers that one
thread of each rank uses in turn, so ranks that wait at different barriers of a group wait for ever: that is found here
and ends the wait of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fdcomm.errors import ConfigError, ProtocolViolationError, RankError

__all__ = ("Arrival", "BarrierGroup", "Ending", "Outcome")

Outcome: TypeAlias = Literal["passed", "lost", "mismatch", "broken"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a wait ended.

    Attributes:
        outcome: What happened.
        index: Order of arrival, 0 for the first; only for "passed".
        positions: For "mismatch": where each rank was, as ``{rank: (barrier, label)}``.
        ranks: For "lost": the lost ranks.
    """

    outcome: Outcome
    index: int = 0
    positions: tuple[tuple[int, tuple[str, str]], ...] = ()
    ranks: tuple[int, ...] = ()


@dataclass(slots=True)
class Arrival:
    """A rank that waits, or waited: ``ending`` is set once."""

    rank: int
    barrier: str
    label: str
    index: int
    ending: Ending | None = None


@dataclass(slots=True)
class _Barrier:
    """Invariants NeverFull and OneLabel: ``arrived`` lacks a rank, and its labels are equal."""

    generation: int = 0
    broken: bool = False
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
        """Return how often the barrier has been passed."""
        return self._barriers[barrier].generation

    def broken(self, barrier: str) -> bool:
        """Return True after an abort, until a reset."""
        return self._barriers[barrier].broken

    def n_waiting(self, barrier: str) -> int:
        """Return how many ranks wait in the current round."""
        return len(self._barriers[barrier].arrived)

    def missing(self, barrier: str) -> tuple[int, ...]:
        """Return the ranks that the current round waits for."""
        arrived = self._barriers[barrier].arrived
        return tuple(rank for rank in range(self.ranks) if rank not in arrived)

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: somebody waits for the rank for the first time."""
        if not 0 <= rank < self.ranks:
            raise RankError(f"rank {rank} is outside 0 <= rank < {self.ranks}")
        self.lost.discard(rank)
        self.live.add(rank)

    def leave(self, rank: int) -> None:
        """Leave: the handle closed. An arrival of it, from another thread, is withdrawn."""
        self.live.discard(rank)
        for barrier in self._barriers.values():
            barrier.arrived.pop(rank, None)

    def fence(self, rank: int) -> None:
        """Fence: the process is gone. Its arrivals go, and nobody waits for it (invariant NoGhostArrival)."""
        self.leave(rank)
        self.lost.add(rank)
        self._end_all(Ending("lost", ranks=tuple(sorted(self.lost))))

    # -- waits ---------------------------------------------------------------------------------------------------

    def arrive(self, rank: int, barrier: str, label: str = "") -> Arrival:
        """Arrive, Pass, Mismatch or Refuse: the arrival, which has an ending unless the rank has to wait."""
        if rank not in self.live:
            raise ProtocolViolationError(f"Arrive: rank {rank} is not live")
        here = self._barriers[barrier]
        if rank in here.arrived:
            raise ProtocolViolationError(
                f"{barrier}.wait: rank {rank} waits there already, in another thread; a rank arrives once per round"
            )
        arrival = Arrival(rank, barrier, label, len(here.arrived))
        if self.lost:
            arrival.ending = Ending("lost", ranks=tuple(sorted(self.lost)))
        elif here.broken:
            arrival.ending = Ending("broken")
        else:
            here.arrived[rank] = arrival
            self._settle(here)
        return arrival

    def withdraw(self, arrival: Arrival) -> bool:
        """Timeout: take a waiting arrival back; False when it has ended meanwhile."""
        here = self._barriers[arrival.barrier]
        if here.arrived.get(arrival.rank) is not arrival:
            return False
        del here.arrived[arrival.rank]
        return True

    def abort(self, barrier: str) -> None:
        """Abort: end the waits at the barrier, and refuse new ones until a reset."""
        here = self._barriers[barrier]
        here.broken = True
        self._end(here, Ending("broken"))

    def reset(self, barrier: str) -> None:
        """Reset: undo an abort. Changes nothing otherwise, least of all for ranks that wait in the next round."""
        self._barriers[barrier].broken = False

    # -- helpers -------------------------------------------------------------------------------------------------

    def _settle(self, here: _Barrier) -> None:
        if len({arrival.label for arrival in here.arrived.values()}) > 1:
            self._mismatch()
        elif len(here.arrived) == self.ranks:
            here.generation += 1
            for arrival in here.arrived.values():
                arrival.ending = Ending("passed", index=arrival.index)
            here.arrived.clear()
        elif self._everybody_waits():
            self._mismatch()

    def _everybody_waits(self) -> bool:
        waiting = [arrival.rank for barrier in self._barriers.values() for arrival in barrier.arrived.values()]
        return len(waiting) == self.ranks == len(set(waiting))

    def _mismatch(self) -> None:
        waiting = [arrival for barrier in self._barriers.values() for arrival in barrier.arrived.values()]
        positions = tuple(sorted((arrival.rank, (arrival.barrier, arrival.label)) for arrival in waiting))
        self._end_all(Ending("mismatch", positions=positions))

    def _end_all(self, ending: Ending) -> None:
        for barrier in self._barriers.values():
            self._end(barrier, ending)

    @staticmethod
    def _end(barrier: _Barrier, ending: Ending) -> None:
        for arrival in barrier.arrived.values():
            arrival.ending = ending
        barrier.arrived.clear()
