"""State and constants of ``tla/ring/RingLast.tla``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("NOBODY", "Config", "Guards", "Mem", "State")

Store = tuple[str, int, int]
NOBODY = -1


class Mem(NamedTuple):
    """The words in memory."""

    cursor: tuple[int, ...]
    told: tuple[int, ...]
    life: tuple[int, ...]


class State(NamedTuple):
    """All variables of the spec."""

    mem: Mem
    buf: tuple[tuple[Store, ...], ...]
    lock: int
    pc: tuple[str, ...]
    at: tuple[int, ...]
    known: tuple[tuple[int, ...], ...]
    begun: tuple[int, ...]
    pos: tuple[int, ...]
    last: tuple[bool, ...]
    heard: tuple[int, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    ToldFirst: bool = True
    LastFence: bool = True
    LooksAtTold: bool = True
    LocksTies: bool = True
    OwnWord: bool = True
    TellBarrier: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    ranks: int = 2
    messages: int = 1
    mortal: frozenset[int] = frozenset()
    fenceable: frozenset[int] = frozenset()
    back: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "R": self.ranks,
            "M": self.messages,
            "Mortal": self.mortal,
            "Fenceable": self.fenceable,
            "Back": self.back,
            **asdict(self.guards),
        }
