"""State and constants of the dispatch model. Names and shapes are those of ``spec/dispatch.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("AWAY", "DEAD", "DOWN", "LIVE", "LOST", "UP", "Call", "Config", "Entry", "Guards", "State", "initial_state")

AWAY, LIVE, DEAD, LOST = "away", "live", "dead", "lost"
UP, DOWN = "up", "down"


class Call(NamedTuple):
    """A put call that has not been answered."""

    producer: int
    id: int


class Entry(NamedTuple):
    """A retained batch."""

    id: int
    epoch: int
    taken: frozenset[int]


class State(NamedTuple):
    """All variables of the spec."""

    calls: int
    waiting: tuple[Call, ...]
    log: tuple[Entry, ...]
    epoch: int
    rankSeen: tuple[int, ...]
    prodSeen: tuple[int, ...]
    status: tuple[str, ...]
    producer: tuple[str, ...]
    exist: bool
    got: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    GuardOwnRead: bool = True
    IdleGetKeepsExist: bool = True
    ClearLowersExist: bool = True
    ClearKeepsStarted: bool = True
    ClearOncePerEpoch: bool = True
    FenceFrees: bool = True
    PutsInOrder: bool = True
    LowerInside: bool = True
    FenceWithdraws: bool = True
    FencedCannotRead: bool = True
    JoinSkips: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    ranks: int = 2
    producers: int = 1
    depth: int = 1
    max_calls: int | None = 2
    max_epoch: int | None = 1
    per_producer: int | None = 1
    leavers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    mortal_producers: frozenset[int] = frozenset()
    quitters: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.ranks, self.producers, self.depth) < 1:
            raise ValueError(f"ranks, producers and depth must be at least 1: {self}")
        if not (self.leavers | self.mortal) <= set(range(self.ranks)):
            raise ValueError(f"leavers and mortal must be ranks below {self.ranks}: {self}")
        if not (self.mortal_producers | self.quitters) <= set(range(self.producers)):
            raise ValueError(f"mortal_producers and quitters must be producers below {self.producers}: {self}")

    def constants(self) -> dict[str, int | frozenset[int] | bool | None]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "P": self.producers,
            "Depth": self.depth,
            "MaxCalls": self.max_calls,
            "MaxEpoch": self.max_epoch,
            "PerProducer": self.per_producer,
            "Leavers": self.leavers,
            "Mortal": self.mortal,
            "MortalProducers": self.mortal_producers,
            "Quitters": self.quitters,
            **asdict(self.guards),
        }


def initial_state(config: Config, producer: str = UP) -> State:
    """The initial state. In a recorded run every producer is ``down`` until its Connect."""
    ranks, producers = config.ranks, config.producers
    return State(
        calls=0,
        waiting=(),
        log=(),
        epoch=0,
        rankSeen=(0,) * ranks,
        prodSeen=(0,) * producers,
        status=(AWAY,) * ranks,
        producer=(producer,) * producers,
        exist=False,
        got=((),) * ranks,
    )
