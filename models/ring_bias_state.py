"""State and constants of :mod:`models.ring_bias`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("Config", "Guards", "Mem", "State")

Store = tuple[str, int, int]


class Mem(NamedTuple):
    """The words in memory."""

    bias: tuple[int, ...]
    putting: tuple[int, ...]
    head: tuple[int, ...]


class State(NamedTuple):
    """All variables of the spec."""

    mem: Mem
    buf: tuple[tuple[Store, ...], ...]
    pc: tuple[str, ...]
    mine: tuple[int, ...]
    aim: tuple[int, ...]
    at: tuple[int, ...]
    known: tuple[int, ...]
    sure: tuple[bool, ...]
    asked: tuple[int, ...]
    lock: int
    held: tuple[int, ...]
    stopped: frozenset[int]
    sent: tuple[int, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    SaysFirst: bool = True
    EndBarrier: bool = True
    WaitsOut: bool = True
    AsksToken: bool = True
    TokenWord: bool = True
    Marks: bool = True
    CleansWord: bool = True
    ReadsHead: bool = True
    Doubts: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    writers: int = 2
    tokens: int = 1
    puts: int = 2
    mortal: frozenset[int] = frozenset()
    stoppable: frozenset[int] = frozenset()
    deaf: frozenset[int] = frozenset()
    cuts: bool = False
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "W": self.writers,
            "T": self.tokens,
            "Puts": self.puts,
            "Mortal": self.mortal,
            "Stoppable": self.stoppable,
            "Deaf": self.deaf,
            "Cuts": self.cuts,
            **asdict(self.guards),
        }
