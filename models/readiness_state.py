"""State and constants of the readiness model. Names and shapes are those of ``spec/readiness.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("AWAY", "DEAD", "LIVE", "LOST", "Config", "Guards", "State", "Waiting", "initial_state")

AWAY, LIVE, DEAD, LOST = "away", "live", "dead", "lost"


class Waiting(NamedTuple):
    """A wait: by whom (0: a client, 1 + p: part p), for which components, how, and what became of it."""

    by: int
    mask: int
    patient: int
    outcome: str = "open"


class State(NamedTuple):
    """All variables of the spec. Waits are numbered from 1: wait 1 is entry 0."""

    status: tuple[str, ...]
    inc: tuple[int, ...]
    said: tuple[str, ...]
    stuck: tuple[bool, ...]
    stamps: tuple[frozenset[int], ...]
    ghost: tuple[int, ...]
    serves: tuple[int, ...]
    waits: tuple[Waiting, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    EveryPart: bool = True
    FenceResets: bool = True
    WordsKeyed: bool = True
    BeatsKeyed: bool = True
    AgeCounts: bool = True
    FailureTells: bool = True
    LossTells: bool = True
    Ordered: bool = True


_Numbers = frozenset[int]
_NOBODY: _Numbers = frozenset()


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    components: int = 1
    parts: int = 1
    without: _Numbers = _NOBODY
    needs: _Numbers = _NOBODY
    max_inc: int | None = 1
    max_waits: int | None = 1
    askers: _Numbers = frozenset({0})
    masks: _Numbers = frozenset({1})
    patience: _Numbers = frozenset({0})
    mortal: _Numbers = _NOBODY
    cuts: _Numbers = _NOBODY
    hangs: _Numbers = _NOBODY
    failing: _Numbers = _NOBODY
    reloading: _Numbers = _NOBODY
    leavers: _Numbers = _NOBODY
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.components, self.parts) < 1:
            raise ValueError(f"components and parts must be at least 1: {self}")
        everybody = set(range(self.components * self.parts))
        chosen = self.mortal | self.cuts | self.hangs | self.failing | self.reloading | self.leavers | self.without
        if not chosen <= everybody:
            raise ValueError(f"parts must be below {len(everybody)}: {self}")
        if not self.masks <= set(range(1, 2**self.components)) or not self.askers <= set(range(len(everybody) + 1)):
            raise ValueError(f"masks must be sets of components, and askers 0 or parts: {self}")

    @property
    def all(self) -> range:
        """Every number of a part, also of those that are left out."""
        return range(self.components * self.parts)

    @property
    def there(self) -> tuple[int, ...]:
        """The parts."""
        return tuple(p for p in self.all if p not in self.without)

    def component_of(self, part: int) -> int:
        """Return the component of a part."""
        return part // self.parts

    def awaited(self, mask: int) -> tuple[int, ...]:
        """Return the parts of the components of a mask."""
        return tuple(p for p in self.there if mask >> self.component_of(p) & 1)

    def all_needs(self, component: int) -> frozenset[int]:
        """Return the components that one needs, directly or not."""
        found: set[int] = set()
        todo = [component]
        while todo:
            k = todo.pop()
            new = {j for j in range(self.components) if k * self.components + j in self.needs} - found
            found |= new
            todo += new
        return frozenset(found)

    def constants(self) -> dict[str, int | _Numbers | bool | None]:
        """Return the constants under their names in the spec."""
        return {
            "K": self.components,
            "N": self.parts,
            "Without": self.without,
            "Needs": self.needs,
            "MaxInc": self.max_inc,
            "MaxWaits": self.max_waits,
            "Askers": self.askers,
            "Masks": self.masks,
            "Patience": self.patience,
            "Mortal": self.mortal,
            "Cuts": self.cuts,
            "Hangs": self.hangs,
            "Failing": self.failing,
            "Reloading": self.reloading,
            "Leavers": self.leavers,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nobody is there."""
    count = len(config.all)
    return State(
        status=(AWAY,) * count,
        inc=(0,) * count,
        said=("nothing",) * count,
        stuck=(False,) * count,
        stamps=(frozenset(),) * count,
        ghost=(0,) * count,
        serves=(0,) * count,
        waits=(),
    )
