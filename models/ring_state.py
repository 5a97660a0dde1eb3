"""State and constants of the model of the ring; and, for its modules, what a process does to memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable
from models.store_buffers import at, load, moved, put

__all__ = ("Config", "Guards", "Mem", "State", "at", "load", "moved", "put")

Store = tuple[str, int, int]


class Mem(NamedTuple):
    """The words in memory."""

    seq: tuple[int, ...]
    data: tuple[int, ...]
    begun: tuple[int, ...]
    cursor: tuple[int, ...]
    life: tuple[int, ...]
    gate: tuple[int, ...]


class State(NamedTuple):
    """All variables of the spec."""

    mem: Mem
    buf: tuple[tuple[Store, ...], ...]
    pc: tuple[str, ...]
    at: tuple[int, ...]
    low: tuple[int, ...]
    top: int
    known: tuple[int, ...]
    room: int
    head: int
    pos: tuple[int, ...]
    took: tuple[int, ...]
    saw: tuple[int, ...]
    got: tuple[tuple[int, ...], ...]
    dropped: frozenset[int]
    start: tuple[int, ...]
    sent: int
    alive: tuple[bool, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    PublishLast: bool = True
    PublishFence: bool = True
    WaitsForCursors: bool = True
    SkipsFenced: bool = True
    LivesLast: bool = True
    ChecksLife: bool = True
    JoinBarrier: bool = True
    AnnouncesBegin: bool = True
    ClearBarrier: bool = True
    KeepsBegun: bool = True
    Resumes: bool = True
    CompletesClear: bool = True
    ComparesGate: bool = True
    PassesOver: bool = True
    LooksForVoids: bool = True
    MarksOnce: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    ranks: int = 2
    slots: int = 1
    puts: int = 2
    joins: int = 0
    clears: int = 0
    mortal: frozenset[int] = frozenset()
    fenceable: frozenset[int] = frozenset()
    ordered: bool = True
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "R": self.ranks,
            "N": self.slots,
            "Puts": self.puts,
            "Joins": self.joins,
            "Clears": self.clears,
            "Mortal": self.mortal,
            "Fenceable": self.fenceable,
            "Ordered": self.ordered,
            **asdict(self.guards),
        }
