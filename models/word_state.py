"""State and constants of the model of setting and waiting, and what a process does to memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable
from models.kernel import replaced

__all__ = ("ENDS", "NOBODY", "RETURNED", "WORDS", "Config", "Guards", "State", "load", "put")

Store = tuple[str, int]
RETURNED = ("done", "replaced", "late")
NOBODY = -1
ENDS = ("", *(f": {end}" for end in RETURNED))


class State(NamedTuple):
    """All variables of the spec. ``mem``: value, waiters, wake, gone."""

    mem: tuple[int, ...]
    buf: tuple[tuple[Store, ...], ...]
    pc: tuple[str, ...]
    seen: tuple[int, ...]
    barred: tuple[frozenset[int], ...]
    counts: tuple[int, ...]
    tokens: int
    sharers: frozenset[int]
    keeper: int
    alive: tuple[bool, ...]


WORDS = ("value", "waiters", "wake", "gone")


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    Barrier: bool = True
    TokenFirst: bool = True
    ClearsLocked: bool = True
    FreshTokens: bool = True
    Rechecks: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The k-th set of a setter stores k; waiters wait for the value ``sets``."""

    setters: int = 1
    waiters: int = 1
    sets: int = 2
    supersede: bool = False
    spurious: bool = True
    limited: bool = False
    mortal: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "S": self.setters,
            "W": self.waiters,
            "Sets": self.sets,
            "Supersede": self.supersede,
            "Spurious": self.spurious,
            "Limited": self.limited,
            "Mortal": self.mortal,
            **asdict(self.guards),
        }


def put(s: State, p: int, word: str, value: int) -> State:
    """Return the state with a store of p on its way."""
    return s._replace(buf=replaced(s.buf, p, (*s.buf[p], (word, value))))


def load(s: State, p: int, word: str) -> int:
    """Return what p loads: its own newest store, if one is on its way."""
    own = [value for name, value in s.buf[p] if name == word]
    return own[-1] if own else s.mem[WORDS.index(word)]
