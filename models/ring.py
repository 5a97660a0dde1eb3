"""The ring of slots in shared memory, one load or store at a time: twin of ``tla/ring/Ring.tla``.

Processes are numbers: readers 0 .. R-1, then those that come back, R+r for rank r and 2R+r for
its third, the writer, the clearer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from models.kernel import Action, Model, Step, each, replaced
from models.ring_properties import action_properties, fairness, invariants, liveness, sometimes
from models.ring_state import Config, Guards, Mem, State, at, load, moved, put
from models.ring_writer import Writing

__all__ = ("Config", "Guards", "Ring", "State", "fairness", "liveness")


class Ring(Writing, Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = config.guards.title("ring")
        self.guards = config.guards
        self.ranks = range(config.ranks)
        self.lines = range(config.ranks + config.joins)
        self.words = range(min(len(self.lines), 2 * config.ranks))
        self.writer = len(self.lines)
        self.clearer = self.writer + 1
        everybody = range(self.clearer + 1)
        writer, clearer, lookers = (self.writer,), (self.clearer,), (*self.lines, self.clearer)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "StartPut": (writer, self.start_put),
            "LoadCursor": (writer, self.load_cursor),
            "LoadLife": (writer, self.load_life),
            "SeeVoid": (writer, self.see_void),
            "Fill": (writer, self.fill),
            "Publish": (writer, self.publish),
            "TakeOver": (writer, self.take_over),
            "SeeSeq": (self.lines, self.see_seq),
            "SeeFence": (self.lines, self.see_fence),
            "StoreBegun": (self.lines, self.store_begun),
            "SeeGate": (self.lines, self.see_gate),
            "CopyData": (self.lines, self.copy_data),
            "SeeLife": (self.lines, self.see_life),
            "StoreCursor": (self.lines, self.store_cursor),
            "StoreSkip": (self.lines, self.store_skip),
            "StoreLife": (self.lines, self.store_life),
            "StoreStart": (self.lines, self.store_start),
            "BarrierReaches": (lookers, self.barrier_reaches),
            "SeeBegun": (lookers, self.see_begun),
            "CloseGate": (clearer, self.close_gate),
            "SeeHead": (clearer, self.see_head),
            "SeeMark": (clearer, self.see_mark),
            "StoreVoid": (clearer, self.store_void),
            "OpenGate": (clearer, self.open_gate),
            "ClearAgain": (clearer, self.clear_again),
            "Kill": (sorted(config.mortal), self.kill),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.actions["Fence"] = partial(each, "Fence", "rank", self.ranks, self.fence)
        self.actions["Flush"] = partial(self.flush, everybody)
        self.invariants = invariants(self)
        self.action_properties = action_properties(self)
        self.sometimes = sometimes(self)
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Every rank has its reader, and nothing was put."""
        size, lines, c = self.clearer + 1, len(self.lines), self.config
        pc = ("idle",) * c.ranks + ("out",) * c.joins + ("idle",) * 2
        no, words, none, zeros = (0,) * lines, (0,) * len(self.words), (0,) * c.slots, (0,) * c.ranks
        yield State(
            mem=Mem(none, none, words, words, zeros, (0,)),
            buf=((),) * size,
            pc=pc,
            at=(0,) * size,
            low=(0,) * size,
            top=0,
            known=zeros,
            room=c.slots,
            head=0,
            pos=no,
            took=no,
            saw=no,
            got=((),) * lines,
            dropped=frozenset(),
            start=no,
            sent=0,
            alive=(True,) * size,
        )

    def rank_of(self, p: int) -> int:
        """The rank of a reader."""
        return p % self.config.ranks

    def incarnation(self, p: int) -> int:
        """The life of its rank under which a reader is counted."""
        return 2 * (p // self.config.ranks)

    def line(self, p: int) -> int:
        """Whose words a reader stores to: a rank has two lines, used in turn."""
        return p % (2 * self.config.ranks)

    # -- a reader ------------------------------------------------------------------------------------------------

    def mine(self, s: State, p: int) -> bool:
        """The rank is counted, with this reader."""
        return load(s, p, "life", self.rank_of(p)) == self.incarnation(p)

    def see_seq(self, s: State, p: int) -> State | None:
        """The next message is there; or it was taken back, and its slot perhaps used again; or it is given up."""
        number = s.pos[p] + 1
        seen = load(s, p, "seq", self.slot(number))
        if abs(seen) < number:
            return None
        if seen == number:
            return at(s, p, "idle", "begin" if self.guards.AnnouncesBegin else "gate")
        if abs(seen) > number and not self.guards.PassesOver:
            return at(s, p, "idle", "fenced")
        after = at(s, p, "idle", "void")
        return after and after._replace(low=replaced(s.low, p, max(number, abs(seen) - self.config.slots)))

    def see_fence(self, s: State, p: int) -> State | None:
        """A reader that waits looks whether it was given up."""
        if abs(load(s, p, "seq", self.slot(s.pos[p] + 1))) > s.pos[p] or self.mine(s, p):
            return None
        return at(s, p, "idle", "fenced")

    def store_begun(self, s: State, p: int) -> State | None:
        """Announced."""
        after = at(s, p, "begin", "gate")
        return after and put(after, p, "begun", self.line(p), s.pos[p] + 1)

    def see_gate(self, s: State, p: int) -> State | None:
        """While the gate is closed a reader waits here. After a clear it looks again."""
        gate = load(s, p, "gate", 0)
        if gate % 2:
            return None
        if not self.guards.ComparesGate:
            return at(s, p, "gate", "copy")
        after = at(s, p, "gate", "copy" if gate == s.saw[p] else "idle")
        return after and after._replace(saw=replaced(s.saw, p, gate))

    def copy_data(self, s: State, p: int) -> State | None:
        """The payload."""
        after = at(s, p, "copy", "check" if self.guards.ChecksLife else "release")
        return after and after._replace(took=replaced(s.took, p, load(s, p, "data", self.slot(s.pos[p] + 1))))

    def see_life(self, s: State, p: int) -> State | None:
        """What was copied, or seen in the place of the message, counts only if the rank had not been given up."""
        on = {"check": "release", "void": "skip"}.get(s.pc[p])
        if on is None:
            return None
        if self.mine(s, p):
            return moved(s, p, on)
        return moved(s, p, "fenced", low=0)._replace(took=replaced(s.took, p, 0))

    def store_cursor(self, s: State, p: int) -> State | None:
        """The slot is given back, and the caller gets its message."""
        after = at(s, p, "release", "idle")
        if after is None:
            return None
        got = replaced(s.got, p, (*s.got[p], s.took[p]))
        after = put(after, p, "cursor", self.line(p), s.pos[p] + 1)
        return after._replace(pos=replaced(s.pos, p, s.pos[p] + 1), got=got, took=replaced(s.took, p, 0))

    def store_skip(self, s: State, p: int) -> State | None:
        """What was taken back is passed over, also where the writer has gone on since."""
        if s.pc[p] != "skip":
            return None
        to = s.low[p]
        return put(moved(s, p, "idle", low=0), p, "cursor", self.line(p), to)._replace(pos=replaced(s.pos, p, to))

    # -- another reader of a fenced rank -------------------------------------------------------------------------

    def store_life(self, s: State, p: int) -> State | None:
        """Counted from now on, with a cursor of the past."""
        after = at(s, p, "out", "barrier" if self.guards.JoinBarrier else "look")
        if after is None or s.mem.life[self.rank_of(p)] != self.incarnation(p) - 1 or not self._free(s, p):
            return None
        return put(after, p, "life", self.rank_of(p), self.incarnation(p))

    def _free(self, s: State, p: int) -> bool:
        """Whoever had the line is dead, or has found that it was given up, and has let go."""
        before = p - 2 * self.config.ranks
        return before < 0 or (not s.buf[before] and s.pc[before] in ("dead", "fenced"))

    def barrier_reaches(self, s: State, p: int) -> State | None:
        """The barrier has run on the processor of the next reader: nothing is in its store buffer."""
        if s.pc[p] != "barrier" or s.buf[p] or s.buf[s.at[p]]:
            return None
        if s.at[p] < self.lines[-1]:
            return moved(s, p, "barrier", at=s.at[p] + 1)
        return moved(s, p, "head" if p == self.clearer else "look", at=0)

    def see_begun(self, s: State, p: int) -> State | None:
        """How far anybody has begun."""
        if s.pc[p] != "look":
            return None
        most = max(s.low[p], load(s, p, "begun", s.at[p]))
        if s.at[p] < self.words[-1]:
            return moved(s, p, "look", at=s.at[p] + 1, low=most)
        if p != self.clearer:
            return moved(s, p, "start", at=0, low=most)
        kept = max(most if self.guards.KeepsBegun else 0, s.top - self.config.slots)
        after = moved(s, p, "see", at=s.top, low=kept) if s.top > kept else moved(s, p, "open", at=0, low=0)
        return after._replace(top=0)

    def store_start(self, s: State, p: int) -> State | None:
        """It begins with the first message that nobody has begun."""
        if s.pc[p] != "start":
            return None
        begin = s.low[p]
        after = put(moved(s, p, "idle", low=0), p, "cursor", self.line(p), begin)
        return after._replace(pos=replaced(s.pos, p, begin), start=replaced(s.start, p, begin))

    # -- a clear -------------------------------------------------------------------------------------------------

    def close_gate(self, s: State, p: int) -> State | None:
        """From now on nobody begins."""
        gate = load(s, p, "gate", 0)
        after = at(s, p, "idle", "barrier" if self.guards.ClearBarrier else "head")
        return put(after, p, "gate", 0, gate + 1) if after and gate < 2 * self.config.clears else None

    def see_head(self, s: State, p: int) -> State | None:
        """The last message, slot by slot."""
        if s.pc[p] != "head":
            return None
        more = s.at[p] < self.config.slots - 1
        after = moved(s, p, "head" if more else "look", at=s.at[p] + 1 if more else 0)
        return after._replace(top=max(s.top, abs(load(s, p, "seq", s.at[p]))))

    def _onward(self, s: State, p: int) -> State:
        last = s.at[p] == s.low[p] + 1
        return moved(s, p, "open", at=0, low=0) if last else moved(s, p, "see", at=s.at[p] - 1)

    def see_mark(self, s: State, p: int) -> State | None:
        """What has its mark stays as it is: the writer may be using the slot. The last message comes first."""
        if s.pc[p] != "see":
            return None
        there = load(s, p, "seq", self.slot(s.at[p])) == s.at[p]
        return moved(s, p, "mark") if there or not self.guards.MarksOnce else self._onward(s, p)

    def store_void(self, s: State, p: int) -> State | None:
        """A message is taken back, once this reaches memory."""
        if s.pc[p] != "mark":
            return None
        message = s.at[p]
        after = put(self._onward(s, p), p, "seq", self.slot(message), -message)
        return after._replace(dropped=s.dropped | {message})

    def open_gate(self, s: State, p: int) -> State | None:
        """The clear is over: a new epoch."""
        after = at(s, p, "open", "idle")
        return after and put(after, p, "gate", 0, load(s, p, "gate", 0) + 1)

    def clear_again(self, s: State, p: int) -> State | None:
        """Whoever gets the lock after a killed clearer finds the gate as that one left it."""
        on = "idle" if s.mem.gate[0] % 2 == 0 else "barrier" if self.guards.ClearBarrier else "head"
        after = at(s, p, "dead", on)
        if after is None or s.buf[p] or not self.guards.CompletesClear:
            return None
        return after

    # -- the environment -----------------------------------------------------------------------------------------

    def flush(self, everybody: Iterable[int], s: State) -> Iterator[Step[State]]:
        """The oldest store reaches memory; where stores are not ordered, the oldest to any word."""
        for p in everybody:
            seen: set[tuple[str, int]] = set()
            for k, (word, place, value) in enumerate(s.buf[p]):
                if (word, place) not in seen:
                    mem = s.mem._replace(**{word: replaced(getattr(s.mem, word), place, value)})
                    buf = replaced(s.buf, p, s.buf[p][:k] + s.buf[p][k + 1 :])
                    yield Action("Flush", (("process", p), ("store", k + 1))), s._replace(mem=mem, buf=buf)
                seen.add((word, place))
                if self.config.ordered:
                    break

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL, at most once for each. What is in the store buffer still reaches memory."""
        if not s.alive[p] or s.pc[p] == "out":
            return None
        after = moved(s, p, "dead", at=0, low=0)._replace(alive=replaced(s.alive, p, False))
        if p == self.clearer:
            return after._replace(top=0)
        return after._replace(took=replaced(s.took, p, 0)) if p in self.lines else after

    def fence(self, s: State, r: int) -> State | None:
        """A rank is given up: its reader is dead, or somebody says so."""
        life = s.mem.life[r]
        reader = life // 2 * self.config.ranks + r
        gone = not s.alive[reader] and not s.buf[reader]
        may = life == 0 or life // 2 < self.config.joins // self.config.ranks
        if life % 2 or not (gone or (r in self.config.fenceable and may)):
            return None
        return s._replace(mem=s.mem._replace(life=replaced(s.mem.life, r, life + 1)))
