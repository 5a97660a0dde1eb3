"""State and constants of the pause model. Names and shapes are those of ``spec/pause.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("ABORT", "AWAY", "DEAD", "DRAIN", "KEEP", "LIVE", "LOST", "Config", "Guards", "State", "initial_state")

AWAY, LIVE, DEAD, LOST = "away", "live", "dead", "lost"
KEEP, DRAIN, ABORT = range(3)


class State(NamedTuple):
    """All variables of the spec. ``waiting`` and ``awaited`` are functions over 1 .. C: client 1 is entry 0."""

    order: int
    phase: str
    mode: int
    status: tuple[str, ...]
    quiet: frozenset[int]
    seen: tuple[int, ...]
    gate: tuple[str, ...]
    told: tuple[int, ...]
    running: tuple[int, ...]
    parked: tuple[int, ...]
    holders: frozenset[int]
    waiting: tuple[str, ...]
    awaited: tuple[int, ...]
    began: int
    promised: bool


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    TakeShuts: bool = True
    AllRanks: bool = True
    OldOrdersDropped: bool = True
    FenceFrees: bool = True
    JoinsShut: bool = True
    HoldBlocks: bool = True
    ResumeWaits: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    ranks: int = 2
    clients: int = 1
    max_jobs: int | None = 1
    max_orders: int | None = 2
    modes: frozenset[int] = frozenset({DRAIN})
    leavers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    impatient: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.ranks, self.clients) < 1:
            raise ValueError(f"ranks and clients must be at least 1: {self}")
        if not (self.leavers | self.mortal) <= set(range(self.ranks)):
            raise ValueError(f"leavers and mortal must be ranks below {self.ranks}: {self}")
        if not self.impatient <= set(range(1, self.clients + 1)):
            raise ValueError(f"impatient must be clients from 1 to {self.clients}: {self}")
        if not self.modes <= {KEEP, DRAIN, ABORT}:
            raise ValueError(f"modes must be among 0, 1, 2: {self}")

    def constants(self) -> dict[str, int | frozenset[int] | bool | None]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "C": self.clients,
            "MaxJobs": self.max_jobs,
            "MaxOrders": self.max_orders,
            "Modes": self.modes,
            "Leavers": self.leavers,
            "Mortal": self.mortal,
            "Impatient": self.impatient,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nobody is there, and nothing was ordered."""
    none = (0,) * config.ranks
    return State(
        order=0,
        phase="run",
        mode=KEEP,
        status=(AWAY,) * config.ranks,
        quiet=frozenset(),
        seen=none,
        gate=("shut",) * config.ranks,
        told=none,
        running=none,
        parked=none,
        holders=frozenset(),
        waiting=("idle",) * config.clients,
        awaited=(0,) * config.clients,
        began=0,
        promised=False,
    )
