"""Who owns the segments for large payloads, one step at a time: twin of ``tla/ring/RingOverflow.tla``.

Processes are numbers: writers 0 .. W-1, which take turns; then the first readers of all ranks, then a second one of
each. Segment s has the number s + 1. What is loaded and stored in slots and cursors is one step here: that is Ring's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

from models.guards import Removable
from models.kernel import Action, Model, each, replaced
from models.liveness import Fair, LeadsTo

__all__ = ("Config", "Guards", "RingOverflow", "State", "fairness", "liveness")

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


def _moved(s: State, p: int, there: str, **fields: Any) -> State:
    return s._replace(pc=replaced(s.pc, p, there), **fields)


class RingOverflow(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.guards = config.guards
        self.name = config.guards.title("ring.overflow")
        self.writers = range(config.writers)
        self.lines = range(2 * config.ranks)
        self.all = range(config.writers + 2 * config.ranks)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "Look": (self.writers, self.look),
            "Remove": (self.writers, self.remove),
            "Count": (self.writers, self.count),
            "Make": (self.writers, self.make),
            "Name": (self.writers, self.name_it),
            "Made": (self.writers, self.made),
            "Fill": (self.writers, self.fill),
            "Filled": (self.writers, self.filled),
            "StoreWhere": (self.writers, self.store_where),
            "Publish": (self.writers, self.publish),
            "Enter": (self.writers, self.enter),
            "Take": (self.writers, self.take),
            "Drop": (self.writers, self.drop),
            "Sweep": (self.writers, self.sweep),
            "Entered": (self.writers, self.entered),
            "Leave": (self.writers, self.leave),
            "Release": (self.writers, self.release),
            "Left": (self.writers, self.left),
            "Finish": (self.writers, self.finish),
            "Begin": (self.lines, self.begin),
            "SeeWhere": (self.lines, self.see_where),
            "SeeLife": (self.lines, self.see_life),
            "Map": (self.lines, self.map_it),
            "End": (self.lines, self.end),
            "Quit": (self.lines, self.quit),
            "Kill": (sorted(config.mortal), self.kill),
        }
        self.actions: Any = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.actions["Fence"] = partial(each, "Fence", "rank", range(config.ranks), self.fence)
        self.actions["Return"] = partial(each, "Return", "rank", range(config.ranks), self.come_back)
        self.actions["Clean"] = partial(each, "Clean", "segment", range(config.segments), self.clean)
        self.invariants = {
            "Stable": self.stable,
            "NeverGone": lambda s: "lost" not in s.pc,
            "OneOwner": self.one_owner,
            "NothingLeft": self.nothing_left,
        }
        self.action_properties = {"OwnersOnly": self.owners_only}
        self.sometimes = {
            "somebody who was given up reads": lambda s: any(
                s.pc[self._line(line)] == "read" and not self._counted(s, line) for line in self.lines
            ),
            "the ring is removed": lambda s: not s.ring,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """The first writer has made the ring; the others come later."""
        c = self.config
        lines, nothing = 2 * c.ranks, (0,) * c.segments
        yield State(
            ring=True,
            lock=NOBODY,
            pc=("idle",) + ("out",) * (c.writers - 1) + ("idle",) * c.ranks + ("away",) * c.ranks,
            made=0,
            temp=frozenset(),
            files=frozenset(),
            owner=(NOBODY,) * c.segments,
            holds=nothing,
            data=nothing,
            use=(NOTHING,) * c.writers,
            head=0,
            where=(NOTHING,) * c.slots,
            life=(0,) * c.ranks,
            begun=(0,) * lines,
            pos=(0,) * lines,
            hand=(NOTHING,) * lines,
        )

    # -- what is known -------------------------------------------------------------------------------------------

    def _line(self, line: int) -> int:
        """Process of a line."""
        return self.config.writers + line

    def _counted(self, s: State, line: int) -> bool:
        rank, second = line % self.config.ranks, line // self.config.ranks
        return s.life[rank] == 2 * second

    def over(self, s: State) -> int:
        """Up to this message everybody who is counted, or will be, is done."""
        cursors = [s.pos[line] for line in self.lines if self._counted(s, line)]
        passed = min(cursors) if cursors and self.guards.AfterReaders else s.head
        return min(passed, max(s.begun)) if self.guards.KeepsUnbegun else passed

    def _zombies(self, s: State) -> bool:
        return any(
            not self._counted(s, line) and s.pc[self._line(line)] not in ("away", "dead", "gone") for line in self.lines
        )

    def _mine(self, s: State, p: int) -> list[int]:
        return [seg for seg in sorted(s.files) if s.owner[seg] == p]

    def _abandoned(self, s: State, p: int) -> list[int]:
        return [
            seg
            for seg in sorted(s.files)
            if (s.owner[seg] == NOBODY if self.guards.AsksLock else s.owner[seg] != p)
        ]

    def _message(self, s: State, seg: int) -> int:
        """The last message that a segment is said to have: an older slot may name one that was used again; 0: none."""
        k = self.config.slots
        found = [n for n in range(max(1, s.head - k + 1), s.head + 1) if s.where[(n - 1) % k] == seg]
        # A slot whose number was not stored yet says so of the message before.
        before = (s.head + 1 - k) if s.head + 1 > k and s.where[s.head % k] == seg else 0
        return min(found) if found and not self.guards.TakesLatest else max([*found, before])

    # -- putting -------------------------------------------------------------------------------------------------

    def look(self, s: State, p: int) -> State | None:
        """It is this writer's turn: the segment that was used last among the free ones, or a new one."""
        number = s.head + 1
        if s.pc[p] != "idle" or s.lock != NOBODY or not s.ring or number > self.config.puts:
            return None
        if number - self.config.slots > self.over(s):
            return None
        busy = self.guards.AfterZombies and self._zombies(s)
        free = [] if busy else [seg for seg in self._mine(s, p) if s.holds[seg] <= self.over(s)]
        if free and number not in self.config.larger:
            best = max(free, key=lambda seg: (s.holds[seg], -seg))
            return _moved(s, p, "fill", lock=p, use=replaced(s.use, p, best))
        if free:
            return _moved(s, p, "remove", lock=p, use=replaced(s.use, p, free[0]))
        return _moved(s, p, "count", lock=p)

    def remove(self, s: State, p: int) -> State | None:
        """All free ones are too small: one makes room."""
        return self._without(_moved(s, p, "count", use=replaced(s.use, p, NOTHING)), s.use[p]) if (
            s.pc[p] == "remove"
        ) else None

    def _without(self, s: State, seg: int) -> State:
        return s._replace(
            files=s.files - {seg}, owner=replaced(s.owner, seg, NOBODY), holds=replaced(s.holds, seg, 0)
        )

    def count(self, s: State, p: int) -> State | None:
        """The number of a new segment is stored before there is one."""
        seg = s.made if self.guards.OneCounter else len(self._mine(s, p))
        if s.pc[p] != "count" or seg >= self.config.segments:
            return None
        return _moved(s, p, "make", made=max(s.made, seg + 1), use=replaced(s.use, p, seg))

    def make(self, s: State, p: int) -> State | None:
        """A file that has no name yet."""
        return _moved(s, p, "name", temp=s.temp | {s.use[p]}) if s.pc[p] == "make" else None

    def name_it(self, s: State, p: int) -> State | None:
        """It has its name, and its owner's lock."""
        seg = s.use[p]
        if s.pc[p] != "name" or s.owner[seg] not in (NOBODY, p):
            return None
        return _moved(
            s,
            p,
            "made",
            files=s.files | {seg},
            owner=replaced(s.owner, seg, p),
            holds=replaced(s.holds, seg, 0),
            data=replaced(s.data, seg, 0),
        )

    def made(self, s: State, p: int) -> State | None:
        """Its first name is removed."""
        return _moved(s, p, "fill", temp=s.temp - {s.use[p]}) if s.pc[p] == "made" else None

    def fill(self, s: State, p: int) -> State | None:
        """The payload is being stored."""
        return _moved(s, p, "filled", data=replaced(s.data, s.use[p], HALF)) if s.pc[p] == "fill" else None

    def filled(self, s: State, p: int) -> State | None:
        """All of it is there."""
        return _moved(s, p, "where", data=replaced(s.data, s.use[p], s.head + 1)) if s.pc[p] == "filled" else None

    def store_where(self, s: State, p: int) -> State | None:
        """The slot says which segment it is."""
        slot = s.head % self.config.slots
        return _moved(s, p, "publish", where=replaced(s.where, slot, s.use[p])) if s.pc[p] == "where" else None

    def publish(self, s: State, p: int) -> State | None:
        """The number is stored."""
        if s.pc[p] != "publish":
            return None
        done = _moved(s, p, "idle", lock=NOBODY, head=s.head + 1, use=replaced(s.use, p, NOTHING))
        return done._replace(holds=replaced(s.holds, s.use[p], s.head + 1))

    # -- coming and leaving --------------------------------------------------------------------------------------

    def enter(self, s: State, p: int) -> State | None:
        """A writer comes, or looks again what others have left, and what it does not need."""
        again = s.pc[p] == "idle" and self.guards.TakesOver and bool(self._todo(s, p) or s.temp)
        if s.lock != NOBODY or not s.ring or not (s.pc[p] == "out" or again):
            return None
        return _moved(s, p, "enter", lock=p)

    def _todo(self, s: State, p: int) -> list[int]:
        """What one who comes takes or removes, in that order; one who ends removes all of it."""
        found = self._abandoned(s, p) if self.guards.TakesOver else []
        ends = s.pc[p] == "final"
        return sorted({*found, *(seg for seg in self._mine(s, p) if ends or s.holds[seg] <= self.over(s))})

    def _takes(self, s: State, p: int, seg: int) -> bool:
        unread = self.guards.TakesUnread and self._message(s, seg) > self.over(s)
        return s.pc[p] == "enter" and s.owner[seg] != p and unread

    def take(self, s: State, p: int) -> State | None:
        """What nobody owns, and somebody still has to read, is this writer's."""
        seg = next(iter(self._todo(s, p)), NOTHING)
        if s.pc[p] != "enter" or seg == NOTHING or not self._takes(s, p, seg):
            return None
        return s._replace(owner=replaced(s.owner, seg, p), holds=replaced(s.holds, seg, self._message(s, seg)))

    def drop(self, s: State, p: int) -> State | None:
        """What nobody owns, or this writer, and nobody has to read, is removed; at the end of the ring everything."""
        seg = next(iter(self._todo(s, p)), NOTHING)
        if s.pc[p] not in ("enter", "final") or seg == NOTHING or self._takes(s, p, seg):
            return None
        return self._without(s, seg)

    def sweep(self, s: State, p: int) -> State | None:
        """What never got its name is removed."""
        here = s.pc[p] in ("enter", "final") and not self._todo(s, p)
        return s._replace(temp=frozenset()) if here and s.temp and self.guards.SweepsNew else None

    def entered(self, s: State, p: int) -> State | None:
        """Nothing more is there to take or to remove."""
        if s.pc[p] not in ("enter", "final") or self._todo(s, p) or (s.temp and self.guards.SweepsNew):
            return None
        return _moved(s, p, "idle" if s.pc[p] == "enter" else "out", lock=NOBODY)

    def leave(self, s: State, p: int) -> State | None:
        """A writer begins to leave."""
        may = p in self.config.leavers or not s.ring
        return _moved(s, p, "leave") if s.pc[p] == "idle" and may else None

    def release(self, s: State, p: int) -> State | None:
        """What is over is removed; what somebody still has to read is left to the next one."""
        mine = self._mine(s, p)
        if s.pc[p] != "leave" or not mine:
            return None
        seg = mine[0]
        if s.holds[seg] <= self.over(s) or not s.ring or not self.guards.LeavesUnread:
            return self._without(s, seg)
        return s._replace(owner=replaced(s.owner, seg, NOBODY), holds=replaced(s.holds, seg, 0))

    def left(self, s: State, p: int) -> State | None:
        """It has none any more."""
        return _moved(s, p, "out") if s.pc[p] == "leave" and not self._mine(s, p) else None

    def finish(self, s: State, p: int) -> State | None:
        """A writer removes the ring, and then the segments that are its own or nobody's."""
        if s.pc[p] != "idle" or s.lock != NOBODY or not s.ring:
            return None
        return _moved(s, p, "final", lock=p, ring=False)

    # -- reading -------------------------------------------------------------------------------------------------

    def begin(self, s: State, line: int) -> State | None:
        """The next message is there, and announced. Not there any more: the reader was given up."""
        p, pos = self._line(line), s.pos[line]
        if s.pc[p] != "idle" or s.head <= pos:
            return None
        if s.head > pos + self.config.slots:
            return _moved(s, p, "told")
        return _moved(s, p, "where", begun=replaced(s.begun, line, pos + 1))

    def see_where(self, s: State, line: int) -> State | None:
        """The segment's number is loaded."""
        p = self._line(line)
        there = "life" if self.guards.ChecksPlace else "map"
        hand = s.where[s.pos[line] % self.config.slots]
        return _moved(s, p, there, hand=replaced(s.hand, line, hand)) if s.pc[p] == "where" else None

    def see_life(self, s: State, line: int) -> State | None:
        """The rank's life is loaded: was it that message's?"""
        p = self._line(line)
        if s.pc[p] != "life":
            return None
        return _moved(s, p, "map") if self._counted(s, line) else self._told(s, line)

    def _told(self, s: State, line: int, there: str = "told") -> State:
        return _moved(s, self._line(line), there, hand=replaced(s.hand, line, NOTHING))

    def map_it(self, s: State, line: int) -> State | None:
        """The segment is mapped. It is gone: the reader was given up, or the ring is removed."""
        p = self._line(line)
        if s.pc[p] != "map":
            return None
        if s.hand[line] in s.files:
            return _moved(s, p, "read")
        return self._told(s, line, "told" if not self._counted(s, line) or not s.ring else "lost")

    def end(self, s: State, line: int) -> State | None:
        """What was made of the bytes counts if the rank's life is the same."""
        p = self._line(line)
        if s.pc[p] != "read":
            return None
        if not self._counted(s, line):
            return self._told(s, line)
        return self._told(s, line, "idle")._replace(pos=replaced(s.pos, line, s.pos[line] + 1))

    def quit(self, s: State, line: int) -> State | None:
        """A reader that was told closes."""
        p = self._line(line)
        return _moved(s, p, "gone") if s.pc[p] == "told" else None

    def fence(self, s: State, rank: int) -> State | None:
        """A rank's reader is given up: it is dead, or somebody says so."""
        if s.life[rank] % 2:
            return None
        line = rank + self.config.ranks * (s.life[rank] // 2)
        given_up = s.pc[self._line(line)] == "dead" or (rank in self.config.fenceable and s.life[rank] == 0)
        return s._replace(life=replaced(s.life, rank, s.life[rank] + 1)) if given_up else None

    def come_back(self, s: State, rank: int) -> State | None:
        """A second reader comes: the first message that nobody has begun is its first."""
        if not self.config.back or not s.ring or s.life[rank] != 1:
            return None
        line, begin = rank + self.config.ranks, max(s.begun)
        return _moved(
            s,
            self._line(line),
            "idle",
            life=replaced(s.life, rank, 2),
            pos=replaced(s.pos, line, begin),
            begun=replaced(s.begun, line, begin),
        )

    # -- the environment -----------------------------------------------------------------------------------------

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL. The kernel's locks are free."""
        if s.pc[p] in ("dead", "gone", "away", "out"):
            return None
        if p not in self.writers:
            return self._told(s, p - self.config.writers, "dead")
        owner = tuple(NOBODY if q == p else q for q in s.owner)
        holds = tuple(0 if q == p else held for q, held in zip(s.owner, s.holds, strict=True))
        lock = NOBODY if s.lock == p else s.lock
        return _moved(s, p, "dead", lock=lock, owner=owner, holds=holds, use=replaced(s.use, p, NOTHING))

    def clean(self, s: State, seg: int) -> State | None:
        """Who makes the next ring of that name takes the name, and removes what nobody owns."""
        if not self.ended(s) or s.lock != NOBODY or s.owner[seg] != NOBODY:
            return None
        temp = s.temp - {seg} if self.guards.SweepsNew else s.temp
        return s._replace(ring=False, files=s.files - {seg}, temp=temp) if seg in s.files or temp != s.temp else None

    # -- claims --------------------------------------------------------------------------------------------------

    def stable(self, s: State) -> bool:
        """Who reads a segment, also one who was given up, has the whole message whose turn it is."""
        return all(
            s.data[s.hand[line]] == s.pos[line] + 1 for line in self.lines if s.pc[self._line(line)] == "read"
        )

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


def liveness(model: RingOverflow) -> list[LeadsTo[State]]:
    """Return what must happen in the end, whoever is killed."""
    return [LeadsTo("EndsClean", model.ended, lambda s: not (s.files or s.temp))]


def fairness(model: RingOverflow) -> list[Fair[State]]:
    """Return the assumptions: at the end of the ring writers go on and leave, and somebody makes the next ring."""
    found = [Fair(f"writer {p}", partial(_ends, p)) for p in model.writers]
    segments = range(model.config.segments)
    return [*found, *(Fair(f"Clean {seg}", partial(_is, ("Clean",), "segment", seg)) for seg in segments)]


_PUTS = ("Look", "Enter", "Finish", "Kill")


def _ends(process: int, state: State, action: Action) -> bool:
    return not state.ring and action.param("process") == process and action.name not in _PUTS


def _is(names: tuple[str, ...], key: str, number: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param(key) == number
