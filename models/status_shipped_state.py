"""State and constants of the shipped words. Names and shapes are those of ``tla/status/StatusShipped.tla``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ("AFTER", "CLEARED", "CLEARING", "END", "NORMAL", "UPDATING", "WAYS", "Config", "State")

NORMAL, UPDATING, CLEARING, CLEARED = 0, 1, -1, -2
WAYS = (CLEARING, UPDATING)
AFTER = {NORMAL: CLEARING, CLEARING: CLEARED, CLEARED: UPDATING, UPDATING: NORMAL}
END = {CLEARING: CLEARED, UPDATING: NORMAL}


class State(NamedTuple):
    """All variables of the spec."""

    weights: int
    kv: int
    tree: int
    asked: int
    goal: int
    code: int
    pcA: str
    pcW: tuple[str, ...]
    seen: tuple[int, ...]
    pcS: tuple[str, ...]
    ready: tuple[int, ...]
    paused: tuple[bool, ...]
    treeLives: bool


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped words work."""

    workers: int = 1
    movers: int = 2
    max_asked: int = 3
    calm: bool = True
    tree_first: bool = False
    tree_dies: bool = False
    failing: frozenset[int] = frozenset()
    absent: frozenset[int] = frozenset()
    may_give_up: bool = False
    write_back: bool = False
    cross_wait: bool = False

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "NW": self.workers,
            "NS": self.movers,
            "MaxAsked": self.max_asked,
            "Calm": self.calm,
            "TreeFirst": self.tree_first,
            "TreeDies": self.tree_dies,
            "Failing": self.failing,
            "Absent": self.absent,
            "MayGiveUp": self.may_give_up,
            "WriteBack": self.write_back,
            "CrossWait": self.cross_wait,
        }
