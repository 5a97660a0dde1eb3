"""State and constants of the signal model. Names and shapes are those of ``spec/signal.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = (
    "NOBODY",
    "NOTHING",
    "OF_ATTACH",
    "OF_CLEAR",
    "OF_CREATE",
    "REMOVED",
    "Config",
    "Guards",
    "State",
    "initial_state",
)

NOBODY = REMOVED = -1
NOTHING = 0

# The steps of each program, as `pc` names them.
OF_CREATE = (
    *("wait", "retry", "examine", "tidy", "make", "allocate", "fill"),
    *("lock", "supersede", "publish", "finish", "leave"),
)
OF_CLEAR = ("clear-wait", "look", "mark", "unlink", "clear-leave", "close")
OF_ATTACH = ("open", "share", "again", "attach-leave", "check")


class State(NamedTuple):
    """All variables of the spec. Functions over the files ``1 .. I`` have file ``i`` at index ``i - 1``."""

    name: int
    temp: int
    content: tuple[str, ...]
    mark: tuple[int, ...]
    lock: tuple[int, ...]
    guard: int
    shared: frozenset[int]
    pc: tuple[str, ...]
    insist: tuple[bool, ...]
    seen: tuple[int, ...]
    made: tuple[int, ...]
    owned: tuple[frozenset[int], ...]
    attached: tuple[frozenset[int], ...]
    crashed: bool


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    GuardTaken: bool = True
    OwnerChecked: bool = True
    LockFirst: bool = True
    FillFirst: bool = True
    InodeChecked: bool = True
    Supersedes: bool = True
    ClearMarks: bool = True
    LinkFirst: bool = True
    TempDropped: bool = True


_R = frozenset[int]


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    processes: int = 2
    files: int = 2
    creators: frozenset[int] = _R({0, 1})
    insisters: frozenset[int] = _R()
    attachers: frozenset[int] = _R()
    mortal: frozenset[int] = _R()
    foreign: bool = False
    full: bool = False
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.processes, self.files) < 1:
            raise ValueError(f"processes and files must be at least 1: {self}")
        if not (self.creators | self.attachers | self.mortal) <= set(range(self.processes)):
            raise ValueError(f"creators, attachers and mortal must be processes below {self.processes}: {self}")
        if not self.insisters <= self.creators:
            raise ValueError(f"only creators can insist: {self}")

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "P": self.processes,
            "I": self.files,
            "Creators": self.creators,
            "Insisters": self.insisters,
            "Attachers": self.attachers,
            "Mortal": self.mortal,
            "Foreign": self.foreign,
            "Full": self.full,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """There is no file, and nobody does anything."""
    processes, files = config.processes, config.files
    nothing = (frozenset[int](),) * processes
    return State(
        name=NOTHING,
        temp=NOTHING,
        content=("none",) * files,
        mark=(0,) * files,
        lock=(NOBODY,) * files,
        guard=NOBODY,
        shared=frozenset(),
        pc=("idle",) * processes,
        insist=(False,) * processes,
        seen=(NOTHING,) * processes,
        made=(NOTHING,) * processes,
        owned=nothing,
        attached=nothing,
        crashed=False,
    )
