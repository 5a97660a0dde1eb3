"""Who owns the segments for large payloads, one step at a time: twin of ``tla/ring/RingOverflow.tla``.

Processes are numbers: writers 0 .. W-1, which take turns; then the first readers of all ranks, then a second one of
each. Segment s has the number s + 1. What is loaded and stored in slots and cursors is one step here: that is Ring's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from models.kernel import Action, each, replaced
from models.liveness import Fair, LeadsTo
from models.ring_overflow_coming import Coming
from models.ring_segments import HALF, NOBODY, NOTHING, Config, Guards, State, moved

__all__ = ("Config", "Guards", "RingOverflow", "State", "fairness", "liveness")


class RingOverflow(Coming):
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
            "Kill": (sorted(config.mortal), self.kill),
        }
        reading = {
            "Begin": self.begin,
            "SeeWhere": self.see_where,
            "SeeLife": self.see_life,
            "Map": self.map_it,
            "End": self.end,
            "Quit": self.quit,
        }
        self.actions: Any = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.actions |= {name: partial(each, name, "line", self.lines, step) for name, step in reading.items()}
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
                s.pc[self.line_of(line)] == "read" and not self.counted(s, line) for line in self.lines
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

    # -- putting -------------------------------------------------------------------------------------------------

    def look(self, s: State, p: int) -> State | None:
        """It is this writer's turn: the segment that was used last among the free ones, or a new one."""
        number = s.head + 1
        if s.pc[p] != "idle" or s.lock != NOBODY or not s.ring or number > self.config.puts:
            return None
        if number - self.config.slots > self.over(s):
            return None
        busy = self.guards.AfterZombies and self.zombies(s)
        free = [] if busy else [seg for seg in self.mine(s, p) if s.holds[seg] <= self.over(s)]
        if free and number not in self.config.larger:
            best = max(free, key=lambda seg: (s.holds[seg], -seg))
            return moved(s, p, "fill", lock=p, use=replaced(s.use, p, best))
        if free:
            return moved(s, p, "remove", lock=p, use=replaced(s.use, p, free[0]))
        return moved(s, p, "count", lock=p)

    def remove(self, s: State, p: int) -> State | None:
        """All free ones are too small: one makes room."""
        return (
            self.without(moved(s, p, "count", use=replaced(s.use, p, NOTHING)), s.use[p])
            if (s.pc[p] == "remove")
            else None
        )

    def count(self, s: State, p: int) -> State | None:
        """The number of a new segment is stored before there is one."""
        seg = s.made if self.guards.OneCounter else len(self.mine(s, p))
        if s.pc[p] != "count" or seg >= self.config.segments:
            return None
        return moved(s, p, "make", made=max(s.made, seg + 1), use=replaced(s.use, p, seg))

    def make(self, s: State, p: int) -> State | None:
        """A file that has no name yet."""
        return moved(s, p, "name", temp=s.temp | {s.use[p]}) if s.pc[p] == "make" else None

    def name_it(self, s: State, p: int) -> State | None:
        """It has its name, and its owner's lock."""
        seg = s.use[p]
        if s.pc[p] != "name" or s.owner[seg] not in (NOBODY, p):
            return None
        return moved(
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
        return moved(s, p, "fill", temp=s.temp - {s.use[p]}) if s.pc[p] == "made" else None

    def fill(self, s: State, p: int) -> State | None:
        """The payload is being stored."""
        return moved(s, p, "filled", data=replaced(s.data, s.use[p], HALF)) if s.pc[p] == "fill" else None

    def filled(self, s: State, p: int) -> State | None:
        """All of it is there."""
        return moved(s, p, "where", data=replaced(s.data, s.use[p], s.head + 1)) if s.pc[p] == "filled" else None

    def store_where(self, s: State, p: int) -> State | None:
        """The slot says which segment it is."""
        slot = s.head % self.config.slots
        return moved(s, p, "publish", where=replaced(s.where, slot, s.use[p])) if s.pc[p] == "where" else None

    def publish(self, s: State, p: int) -> State | None:
        """The number is stored."""
        if s.pc[p] != "publish":
            return None
        done = moved(s, p, "idle", lock=NOBODY, head=s.head + 1, use=replaced(s.use, p, NOTHING))
        return done._replace(holds=replaced(s.holds, s.use[p], s.head + 1))

    # -- reading -------------------------------------------------------------------------------------------------

    def begin(self, s: State, line: int) -> State | None:
        """The next message is there, and announced. Not there any more: the reader was given up."""
        p, pos = self.line_of(line), s.pos[line]
        if s.pc[p] != "idle" or s.head <= pos:
            return None
        if s.head > pos + self.config.slots:
            return moved(s, p, "told")
        return moved(s, p, "where", begun=replaced(s.begun, line, pos + 1))

    def see_where(self, s: State, line: int) -> State | None:
        """The segment's number is loaded."""
        p = self.line_of(line)
        there = "life" if self.guards.ChecksPlace else "map"
        hand = s.where[s.pos[line] % self.config.slots]
        return moved(s, p, there, hand=replaced(s.hand, line, hand)) if s.pc[p] == "where" else None

    def see_life(self, s: State, line: int) -> State | None:
        """The rank's life is loaded: was it that message's?"""
        p = self.line_of(line)
        if s.pc[p] != "life":
            return None
        return moved(s, p, "map") if self.counted(s, line) else self._told(s, line)

    def _told(self, s: State, line: int, there: str = "told") -> State:
        return moved(s, self.line_of(line), there, hand=replaced(s.hand, line, NOTHING))

    def map_it(self, s: State, line: int) -> State | None:
        """The segment is mapped. It is gone: the reader was given up, or the ring is removed."""
        p = self.line_of(line)
        if s.pc[p] != "map":
            return None
        if s.hand[line] in s.files:
            return moved(s, p, "read")
        return self._told(s, line, "told" if not self.counted(s, line) or not s.ring else "lost")

    def end(self, s: State, line: int) -> State | None:
        """What was made of the bytes counts if the rank's life is the same."""
        p = self.line_of(line)
        if s.pc[p] != "read":
            return None
        if not self.counted(s, line):
            return self._told(s, line)
        return self._told(s, line, "idle")._replace(pos=replaced(s.pos, line, s.pos[line] + 1))

    def quit(self, s: State, line: int) -> State | None:
        """A reader that was told closes."""
        p = self.line_of(line)
        return moved(s, p, "gone") if s.pc[p] == "told" else None

    def fence(self, s: State, rank: int) -> State | None:
        """A rank's reader is given up: it is dead, or somebody says so."""
        if s.life[rank] % 2:
            return None
        line = rank + self.config.ranks * (s.life[rank] // 2)
        given_up = s.pc[self.line_of(line)] == "dead" or (rank in self.config.fenceable and s.life[rank] == 0)
        return s._replace(life=replaced(s.life, rank, s.life[rank] + 1)) if given_up else None

    def come_back(self, s: State, rank: int) -> State | None:
        """A second reader comes: the first message that nobody has begun is its first."""
        if not self.config.back or not s.ring or s.life[rank] != 1:
            return None
        line, begin = rank + self.config.ranks, max(s.begun)
        return moved(
            s,
            self.line_of(line),
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
        return moved(s, p, "dead", lock=lock, owner=owner, holds=holds, use=replaced(s.use, p, NOTHING))

    def clean(self, s: State, seg: int) -> State | None:
        """Who makes the next ring of that name takes the name, and removes what nobody owns."""
        if not self.ended(s) or s.lock != NOBODY or s.owner[seg] != NOBODY:
            return None
        temp = s.temp - {seg} if self.guards.SweepsNew else s.temp
        return s._replace(ring=False, files=s.files - {seg}, temp=temp) if seg in s.files or temp != s.temp else None


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
