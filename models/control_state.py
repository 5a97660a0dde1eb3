"""State and constants of the control model. Names and shapes are those of ``spec/control.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("AWAY", "DEAD", "LIVE", "LOST", "Config", "Given", "Guards", "State", "initial_state")

AWAY, LIVE, DEAD, LOST = "away", "live", "dead", "lost"


class Given(NamedTuple):
    """An answer: who gave it, and which request it was meant for."""

    rank: int
    meant: int


class State(NamedTuple):
    """All variables of the spec. Requests are numbered from 1: request 1 is entry 0 of the sequences."""

    asked: int
    state: tuple[str, ...]
    answers: tuple[frozenset[Given], ...]
    without: tuple[frozenset[int], ...]
    status: tuple[str, ...]
    served: tuple[int, ...]
    doing: tuple[int, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    Keyed: bool = True
    LateRefused: bool = True
    SkipsEnded: bool = True
    FenceDooms: bool = True
    TimeoutEnds: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    ranks: int = 2
    max_asked: int | None = 1
    capacity: int = 2
    leavers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    silent: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.ranks, self.capacity) < 1:
            raise ValueError(f"ranks and capacity must be at least 1: {self}")
        if not (self.leavers | self.mortal | self.silent) <= set(range(self.ranks)):
            raise ValueError(f"leavers, mortal and silent must be ranks below {self.ranks}: {self}")

    def constants(self) -> dict[str, int | frozenset[int] | bool | None]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "MaxAsked": self.max_asked,
            "Capacity": self.capacity,
            "Leavers": self.leavers,
            "Mortal": self.mortal,
            "Silent": self.silent,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nobody is there, and nothing was asked."""
    return State(
        asked=0,
        state=(),
        answers=(),
        without=(),
        status=(AWAY,) * config.ranks,
        served=(0,) * config.ranks,
        doing=(0,) * config.ranks,
    )
