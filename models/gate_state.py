"""State and constants of the gate model. Names and shapes are those of ``spec/gate.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("AWAY", "DEAD", "HEIR", "LIVE", "LOST", "Answer", "Config", "Guards", "Round", "State", "initial_state")

AWAY, LIVE, DEAD, LOST = "away", "live", "dead", "lost"
HEIR = "heir"  # without the guard OpenFences: as dead, and the handle of the next process is open


class Answer(NamedTuple):
    """Who answered, and (history) which request was meant. In a recorded run, where that is not known, 0."""

    rank: int
    issue: int


class Round(NamedTuple):
    """An open round. ``without``: ranks that can answer it no more."""

    key: int
    answers: frozenset[Answer]
    without: frozenset[int]

    @property
    def answered(self) -> frozenset[int]:
        """The ranks that have answered."""
        return frozenset(answer.rank for answer in self.answers)

    @property
    def issues(self) -> frozenset[int]:
        """The requests that the answers are about."""
        return frozenset(answer.issue for answer in self.answers)


class State(NamedTuple):
    """All variables of the spec."""

    issued: tuple[int, ...]
    todo: tuple[frozenset[int], ...]
    status: tuple[str, ...]
    rounds: tuple[Round, ...]
    late: tuple[tuple[int, ...], ...]
    collected: frozenset[int]
    ended: frozenset[int]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    KeyedRounds: bool = True
    OnePerRank: bool = True
    LateRefused: bool = True
    FenceDooms: bool = True
    FenceForgets: bool = True
    OpenFences: bool = True
    VanishLost: bool = True
    TimeoutEnds: bool = True
    PassesPending: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec.

    ``max_issues=None`` is a recorded run: nobody has seen the requests, so any rank may answer any key at any time.
    """

    ranks: int = 2
    keys: int = 2
    capacity: int = 2
    max_late: int = 2
    max_issues: int | None = 2
    overlap: bool = False
    skippers: frozenset[int] = frozenset()
    leavers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    silent: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.ranks, self.keys, self.capacity, self.max_late) < 1:
            raise ValueError(f"ranks, keys, capacity and max_late must be at least 1: {self}")
        if not (self.skippers | self.leavers | self.mortal | self.silent) <= set(range(self.ranks)):
            raise ValueError(f"skippers, leavers, mortal and silent must be ranks below {self.ranks}: {self}")

    def constants(self) -> dict[str, int | frozenset[int] | bool | None]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "K": self.keys,
            "Capacity": self.capacity,
            "MaxLate": self.max_late,
            "MaxIssues": self.max_issues,
            "Overlap": self.overlap,
            "Skippers": self.skippers,
            "Leavers": self.leavers,
            "Mortal": self.mortal,
            "Silent": self.silent,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nothing was asked, and nobody is there."""
    nothing: frozenset[int] = frozenset()
    return State(
        issued=(),
        todo=(nothing,) * config.ranks,
        status=(AWAY,) * config.ranks,
        rounds=(),
        late=((),) * config.ranks,
        collected=nothing,
        ended=nothing,
    )
