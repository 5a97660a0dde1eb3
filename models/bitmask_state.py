"""State and constants of the bitmask model. Names and shapes are those of ``spec/bitmask.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.dispatch_state import Call
from models.guards import Removable

__all__ = ("Config", "Guards", "State", "Task")


class Task(NamedTuple):
    """A queued task. Bit r of ``mask``: rank r has taken it."""

    id: int
    epoch: int
    mask: int


class State(NamedTuple):
    """All variables of the spec."""

    calls: int
    waiting: tuple[Call, ...]
    queue: tuple[Task, ...]
    epoch: int
    rankSeen: tuple[int, ...]
    prodSeen: tuple[int, ...]
    status: tuple[str, ...]
    producer: tuple[str, ...]
    exist: bool
    got: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The guards of the contract that can be taken away."""

    PutKeepsMask: bool = True
    ClearKeepsStarted: bool = True
    FenceFrees: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    ranks: int = 2
    producers: int = 1
    depth: int = 2
    max_calls: int = 2
    max_epoch: int = 1
    per_producer: int = 1
    leavers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    mortal_producers: frozenset[int] = frozenset()
    quitters: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
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
