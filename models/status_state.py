"""State and constants of the status model. Names and shapes are those of ``spec/status.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = (
    "AWAY",
    "CLEARED",
    "CLEARING",
    "DEAD",
    "LIVE",
    "LOST",
    "NORMAL",
    "UPDATING",
    "Config",
    "Guards",
    "Reported",
    "State",
    "initial_state",
)

AWAY, LIVE, DEAD, LOST = "away", "live", "dead", "lost"
NORMAL, UPDATING, CLEARING, CLEARED = 0, 1, -1, -2


class Reported(NamedTuple):
    """What a part has said."""

    part: int
    ok: bool


class State(NamedTuple):
    """All variables of the spec. Requests are numbered from 1: request 1 is entry 0 of the sequences."""

    asked: int
    goals: tuple[str, ...]
    outcome: tuple[str, ...]
    word: tuple[int, ...]
    partial: tuple[bool, ...]
    changing: frozenset[int]
    reports: tuple[frozenset[Reported], ...]
    status: tuple[tuple[str, ...], ...]
    doing: tuple[tuple[int, ...], ...]
    holds: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    ReportsKeyed: bool = True
    WaitsForAll: bool = True
    OneAtATime: bool = True
    Staged: bool = True
    FailureEnds: bool = True
    FenceFails: bool = True
    ExpiryFrees: bool = True
    JoinMarks: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    components: int = 1
    per_stage: int = 1
    parts: int = 1
    without: frozenset[int] = frozenset()
    max_asked: int | None = 1
    mortal: frozenset[int] = frozenset()
    returns: bool = True
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.components, self.per_stage, self.parts) < 1:
            raise ValueError(f"components, per_stage and parts must be at least 1: {self}")
        if not self.without <= set(range(self.components * self.parts)):
            raise ValueError(f"without must be numbers of parts: {self}")
        if not self.mortal <= set(range(self.parts)):
            raise ValueError(f"mortal must be parts below {self.parts}: {self}")

    def parts_of(self, component: int) -> tuple[int, ...]:
        """Return the parts that a component has."""
        return tuple(p for p in range(self.parts) if component * self.parts + p not in self.without)

    @property
    def real(self) -> tuple[int, ...]:
        """The components that have parts."""
        return tuple(k for k in range(self.components) if self.parts_of(k))

    def constants(self) -> dict[str, int | frozenset[int] | bool | None]:
        """Return the constants under their names in the spec."""
        return {
            "K": self.components,
            "PerStage": self.per_stage,
            "N": self.parts,
            "Without": self.without,
            "MaxAsked": self.max_asked,
            "Mortal": self.mortal,
            "Returns": self.returns,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nobody is there, everything is restored."""
    each = range(config.components)
    return State(
        asked=0,
        goals=(),
        outcome=(),
        word=(NORMAL,) * config.components,
        partial=(False,) * config.components,
        changing=frozenset(),
        reports=(frozenset(),) * config.components,
        status=tuple((AWAY,) * config.parts for _ in each),
        doing=tuple((0,) * config.parts for _ in each),
        holds=tuple(("full",) * config.parts for _ in each),
    )
