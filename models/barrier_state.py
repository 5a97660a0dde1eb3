"""State and constants of the barrier model. Names and shapes are those of ``spec/barrier.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("AWAY", "DEAD", "LIVE", "LOST", "UNSAID", "Arrival", "Config", "Guards", "State", "initial_state")

AWAY, LIVE, DEAD, LOST = "away", "live", "dead", "lost"
UNSAID = -1


class Arrival(NamedTuple):
    """A rank that waits, and what its wait said: a label, and its round or UNSAID."""

    rank: int
    label: int
    round: int


class State(NamedTuple):
    """All variables of the spec."""

    status: tuple[str, ...]
    generation: tuple[int, ...]
    arrived: tuple[tuple[Arrival, ...], ...]
    broken: tuple[bool, ...]
    aborts: tuple[int, ...]
    undone: tuple[int, ...]
    passed: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    FenceWithdraws: bool = True
    FenceWakes: bool = True
    ResetHarmless: bool = True
    ResetNamesAbort: bool = True
    RoundsCount: bool = True
    OneWaitPerRank: bool = True
    LabelsChecked: bool = True
    RoundsChecked: bool = True
    CrossWaitFound: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    ranks: int = 2
    barriers: int = 2
    labels: int = 1
    max_rounds: int | None = 2
    max_aborts: int | None = 0
    named: bool = False
    leavers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.ranks, self.barriers, self.labels) < 1:
            raise ValueError(f"ranks, barriers and labels must be at least 1: {self}")
        if not (self.leavers | self.mortal) <= set(range(self.ranks)):
            raise ValueError(f"leavers and mortal must be ranks below {self.ranks}: {self}")

    def constants(self) -> dict[str, int | frozenset[int] | bool | None]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "B": self.barriers,
            "L": self.labels,
            "MaxRounds": self.max_rounds,
            "MaxAborts": self.max_aborts,
            "Named": self.named,
            "Leavers": self.leavers,
            "Mortal": self.mortal,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nobody is there, nothing was passed."""
    none = (0,) * config.barriers
    return State(
        status=(AWAY,) * config.ranks,
        generation=none,
        arrived=((),) * config.barriers,
        broken=(False,) * config.barriers,
        aborts=none,
        undone=none,
        passed=(none,) * config.ranks,
    )
