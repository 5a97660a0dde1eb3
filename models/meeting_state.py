"""The state of ``models/meeting.py``: constants, words, and how a turn is made of its parts; and how it is loaded."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple

from models.guards import Removable
from models.store_buffers import load

__all__ = (
    "KINDS",
    "STATES",
    "Config",
    "Guards",
    "Mem",
    "State",
    "both",
    "count",
    "ended",
    "gen",
    "load",
    "passed",
)

# Every word is a number but `why`.
Store = tuple[str, int, Any]
End = tuple[int, str]

STATES: Final = {"abort": 2, "fence": 1, "pass": 0, "part": 0}
KINDS: Final = {
    "abort": "broken",
    "fence": "lost",
    "pass": "mismatch",
    "join": "lost",
    "reset": "reset",
    "part": "mismatch",
}


class Mem(NamedTuple):
    """The words in memory."""

    turn: tuple[int, ...]
    word: tuple[int, ...]
    label: tuple[int, ...]
    flag: tuple[int, ...]
    life: tuple[int, ...]
    why: tuple[str, ...]
    passes: tuple[int, ...]


class State(NamedTuple):
    """All variables of the spec."""

    mem: Mem
    buf: tuple[tuple[Store, ...], ...]
    pc: tuple[str, ...]
    at: tuple[int, ...]
    stamp: tuple[int, ...]
    label: tuple[int, ...]
    do: tuple[str, ...]
    lock: int
    calls: tuple[int, ...]
    came: tuple[frozenset[tuple[int, int]], ...]
    told: tuple[frozenset[End], ...]
    alive: tuple[bool, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    LooksAgain: bool = True
    WithdrawsLocked: bool = True
    LabelsChecked: bool = True
    PlacesChecked: bool = True
    FindsApart: bool = True
    GoesOn: bool = True
    TwoBanks: bool = True
    FindsDead: bool = True
    CompletesFence: bool = True
    OwnLine: bool = True
    ChecksLife: bool = True
    Barrier: bool = True
    Wakes: bool = True
    Rechecks: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    ranks: int = 2
    labels: int = 1
    places: int = 1
    calls: int = 1
    aborts: bool = False
    fences: bool = False
    parts: bool = False
    absent: frozenset[int] = frozenset()
    timed: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    comes: bool = False
    spurious: bool = True
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "L": self.labels,
            "P": self.places,
            "Calls": self.calls,
            "Aborts": self.aborts,
            "Fences": self.fences,
            "Parts": self.parts,
            "Absent": self.absent,
            "Timed": self.timed,
            "Mortal": self.mortal,
            "Comes": self.comes,
            "Spurious": self.spurious,
            **asdict(self.guards),
        }


def gen(turn: int) -> int:
    """The round of a turn."""
    return turn // 16


def count(turn: int) -> int:
    """How many endings without a pass the round has had."""
    return turn % 16 // 4


def passed(turn: int) -> int:
    """The turn after a pass. A barrier that is aborted stays so when another one is passed."""
    return (gen(turn) + 1) * 16 + turn % 4


def ended(turn: int, state: int) -> int:
    """The turn after an ending without a pass."""
    return turn - turn % 4 + 4 + state


def both(old: int, new: int) -> int:
    """Lost, broken, or both."""
    return old | new
