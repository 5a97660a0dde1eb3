"""Words, files and locks of the ring's segments, and what is known of them: twin of ``tla/ring/RingSegments.tla``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from models.guards import Removable
from models.kernel import Action, Model, replaced

__all__ = ("HALF", "NOBODY", "NOTHING", "Config", "Guards", "Segments", "State", "moved")

NOBODY = NOTHING = -1
HALF = -1
"""Content of a segment that is being filled."""


class State(NamedTuple):
    """All variables of the spec."""

    ring: bool
    lock: int
    pc: tuple[str, ...]
    made: int
    temp: frozenset[int]
    files: frozenset[int]
    owner: tuple[int, ...]
    holds: tuple[int, ...]
    data: tuple[int, ...]
    use: tuple[int, ...]
    head: int
    where: tuple[int, ...]
    life: tuple[int, ...]
    begun: tuple[int, ...]
    pos: tuple[int, ...]
    hand: tuple[int, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    AfterReaders: bool = True
    AfterZombies: bool = True
    KeepsUnbegun: bool = True
    OneCounter: bool = True
    LeavesUnread: bool = True
    TakesUnread: bool = True
    TakesLatest: bool = True
    AsksLock: bool = True
    ChecksPlace: bool = True
    TakesOver: bool = True
    SweepsNew: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    writers: int = 1
    ranks: int = 1
    slots: int = 1
    puts: int = 2
    segments: int = 2
    larger: frozenset[int] = frozenset()
    back: bool = False
    mortal: frozenset[int] = frozenset()
    fenceable: frozenset[int] = frozenset()
    leavers: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "W": self.writers,
            "R": self.ranks,
            "K": self.slots,
            "Puts": self.puts,
            "S": self.segments,
            "Larger": self.larger,
            "Back": self.back,
            "Mortal": self.mortal,
            "Fenceable": self.fenceable,
            "Leavers": self.leavers,
            **asdict(self.guards),
        }


def moved(s: State, p: int, there: str, **fields: Any) -> State:
    """A process goes on, and something changes."""
    return s._replace(pc=replaced(s.pc, p, there), **fields)


class Segments(Model[State]):
    """What all steps look at, and what is claimed."""

    config: Config
    guards: Guards
    writers: range
    lines: range

    def line_of(self, line: int) -> int:
        """Process of a line."""
        return self.config.writers + line

    def counted(self, s: State, line: int) -> bool:
        """The writers wait for this reader."""
        rank, second = line % self.config.ranks, line // self.config.ranks
        return s.life[rank] == 2 * second

    def over(self, s: State) -> int:
        """Up to this message everybody who is counted, or will be, is done."""
        cursors = [s.pos[line] for line in self.lines if self.counted(s, line)]
        passed = min(cursors) if cursors and self.guards.AfterReaders else s.head
        return min(passed, max(s.begun)) if self.guards.KeepsUnbegun else passed

    def zombies(self, s: State) -> bool:
        """A reader that was given up lives."""
        return any(
            not self.counted(s, line) and s.pc[self.line_of(line)] not in ("away", "dead", "gone")
            for line in self.lines
        )

    def mine(self, s: State, p: int) -> list[int]:
        """The segments of a writer."""
        return [seg for seg in sorted(s.files) if s.owner[seg] == p]

    def abandoned(self, s: State, p: int) -> list[int]:
        """What a writer takes for nobody's."""
        return [
            seg for seg in sorted(s.files) if (s.owner[seg] == NOBODY if self.guards.AsksLock else s.owner[seg] != p)
        ]

    def message(self, s: State, seg: int) -> int:
        """The last message that a segment is said to have: an older slot may name one that was used again; 0: none."""
        k = self.config.slots
        found = [n for n in range(max(1, s.head - k + 1), s.head + 1) if s.where[(n - 1) % k] == seg]
        # A slot whose number was not stored yet says so of the message before.
        before = (s.head + 1 - k) if s.head + 1 > k and s.where[s.head % k] == seg else 0
        return min(found) if found and not self.guards.TakesLatest else max([*found, before])

    def without(self, s: State, seg: int) -> State:
        """A segment is removed."""
        return s._replace(files=s.files - {seg}, owner=replaced(s.owner, seg, NOBODY), holds=replaced(s.holds, seg, 0))

    # -- claims --------------------------------------------------------------------------------------------------

    def stable(self, s: State) -> bool:
        """Who reads a segment, also one who was given up, has the whole message whose turn it is."""
        return all(s.data[s.hand[line]] == s.pos[line] + 1 for line in self.lines if s.pc[self.line_of(line)] == "read")

    def one_owner(self, s: State) -> bool:
        """What a writer fills is its own, and has its name."""
        return all(
            s.use[p] in s.files and s.owner[s.use[p]] == p
            for p in self.writers
            if s.pc[p] in ("remove", "fill", "filled", "where", "publish")
        )

    def owners_only(self, s: State, action: Action, then: State) -> bool:
        """A segment is taken from nobody who lives."""
        del action
        return all(
            then.owner[seg] == p or s.pc[p] in ("remove", "enter", "leave", "final") or then.pc[p] == "dead"
            for seg, p in enumerate(s.owner)
            if p != NOBODY
        )

    def ended(self, s: State) -> bool:
        """The ring is removed, or nobody of its writers lives."""
        return not s.ring or all(s.pc[p] == "dead" for p in self.writers)

    def nothing_left(self, s: State) -> bool:
        """When all writers have left in order, nothing is there."""
        ended = not s.ring and all(s.pc[p] == "out" for p in self.writers)
        return not ended or not (s.files or s.temp)
