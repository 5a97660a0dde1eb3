"""Which reader is told that all ranks have taken a message: twin of ``tla/ring/RingLast.tla``.

Readers are lines: 0 .. R-1 the first of each rank, R .. 2R-1 the second ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from models.kernel import Action, Model, each, replaced
from models.liveness import Fair, LeadsTo
from models.ring_last_state import NOBODY, Config, Mem, State
from models.store_buffers import flush, load, moved, put

__all__ = ("RingLast", "fairness", "liveness")


class RingLast(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.guards = config.guards
        self.name = config.guards.title("ring.last")
        self.ranks = range(config.ranks)
        self.lines = range(2 * config.ranks)
        self.places = len(self.lines) if self.guards.OwnWord else 1
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "Begin": (self.lines, self.begin),
            "SeeLife": (self.lines, self.see_life),
            "SeeCursor": (self.lines, self.see_cursor),
            "StoreTold": (self.lines, self.store_told),
            "SeeOwnLife": (self.lines, self.see_own_life),
            "StoreCursor": (self.lines, self.store_cursor),
            "FenceLast": (self.lines, self.fence_last),
            "SeeTold": (self.lines, self.see_told),
            "TakeLock": (self.lines, self.take_lock),
            "Mark": (self.lines, self.mark),
            "GiveLock": (self.lines, self.give_lock),
            "Return": (self.lines, self.come_back),
            "BarrierReaches": (self.lines, self.barrier_reaches),
            "StoreStart": (self.lines, self.store_start),
            "Flush": (self.lines, flush),
            "Kill": (sorted(config.mortal), self.kill),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.actions["Fence"] = partial(each, "Fence", "rank", self.ranks, self.fence)
        self.invariants = {
            "OneTold": lambda s: max(s.heard) <= 1,
            "AllHaveIt": self.all_have_it,
            "SomebodyTold": lambda s: min(s.heard) >= 1 or not self.settled(s),
        }
        self.action_properties = {}
        self.sometimes = {
            "everybody has everything": self.settled,
            "two want the lock": lambda s: s.pc.count("lock") == 2,
            "nobody was told before the lock": lambda s: "mark" in s.pc,
            "somebody was told before the lock": lambda s: "give" in s.pc and max(s.heard) == 1,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Everything is there, and nobody has begun."""
        ranks, count = self.config.ranks, len(self.lines)
        none = (0,) * count
        yield State(
            mem=Mem(none, none, (0,) * ranks),
            buf=((),) * count,
            lock=NOBODY,
            pc=("idle",) * ranks + ("out",) * ranks,
            at=none,
            known=((0,) * ranks,) * count,
            begun=none,
            pos=none,
            last=(False,) * count,
            heard=(0,) * self.config.messages,
        )

    def rank_of(self, p: int) -> int:
        """The rank of a line."""
        return p % self.config.ranks

    def line_of(self, rank: int, life: int) -> int:
        """The line of a rank's reader in that life."""
        return rank + self.config.ranks * (life // 2 % 2)

    def _other(self, s: State, p: int) -> int:
        return s.at[p] + (s.at[p] >= self.rank_of(p))

    def _place(self, p: int) -> int:
        return p if self.guards.OwnWord else 0

    def _tell(self, s: State, p: int) -> State:
        message = s.begun[p] - 1
        return s._replace(heard=replaced(s.heard, message, s.heard[message] + 1))

    # -- a reader is done with a message -------------------------------------------------------------------------

    def begin(self, s: State, p: int) -> State | None:
        """It has the next message."""
        if s.pc[p] != "idle" or s.pos[p] == self.config.messages:
            return None
        alone = self.config.ranks == 1
        return moved(s, p, "told" if alone else "lives", begun=s.pos[p] + 1, last=alone)

    def see_life(self, s: State, p: int) -> State | None:
        """On which line another rank's cursor is."""
        if s.pc[p] not in ("lives", "lives again"):
            return None
        other, more = self._other(s, p), s.at[p] < self.config.ranks - 2
        there = s.pc[p] if more else "first" if s.pc[p] == "lives" else "second"
        known = replaced(s.known[p], other, s.mem.life[other])
        return moved(s, p, there, known=known, at=s.at[p] + 1 if more else 0)

    def see_cursor(self, s: State, p: int) -> State | None:
        """Is another rank done with it?"""
        if (now := s.pc[p]) not in ("first", "second"):
            return None
        other = self._other(s, p)
        done = load(s, p, "cursor", self.line_of(other, s.known[p][other])) >= s.begun[p]
        more = done and s.at[p] < self.config.ranks - 2
        if more:
            return moved(s, p, now, at=s.at[p] + 1, last=False)
        if now == "first":
            return moved(s, p, "told" if done and self.guards.ToldFirst else "check", at=0, last=done)
        decide = "look" if self.guards.LooksAtTold else "lock" if self.guards.LocksTies else "mark"
        return moved(s, p, decide if done else "idle", at=0, last=False)

    def store_told(self, s: State, p: int) -> State | None:
        """Said before anybody can see that all are done with it."""
        if s.pc[p] != "told":
            return None
        before = s.pos[p] < s.begun[p]
        after = put(s, p, "told", self._place(p), s.begun[p])
        return moved(after, p, "check" if before else "idle", last=before)

    def see_own_life(self, s: State, p: int) -> State | None:
        """Is this reader still counted?"""
        if s.pc[p] != "check":
            return None
        counted = s.mem.life[self.rank_of(p)] == 2 * (p // self.config.ranks)
        return moved(s, p, "cursor" if counted else "fenced", last=s.last[p] and counted)

    def store_cursor(self, s: State, p: int) -> State | None:
        """The message counts as taken."""
        if s.pc[p] != "cursor":
            return None
        after, last, first = put(s, p, "cursor", p, s.begun[p]), s.last[p], self.guards.ToldFirst
        if last:
            after = self._tell(after, p)
        slow = "fence" if self.guards.LastFence else "lives again"
        there = slow if not last else "idle" if first else "told"
        return moved(after, p, there, pos=s.begun[p], last=last and not first)

    def fence_last(self, s: State, p: int) -> State | None:
        """Its cursor is in memory before it looks again."""
        return moved(s, p, "lives again") if s.pc[p] == "fence" and not s.buf[p] else None

    def see_told(self, s: State, p: int) -> State | None:
        """Was somebody told? Asked without the lock, and then under it."""
        if (now := s.pc[p]) not in ("look", "again"):
            return None
        told = load(s, p, "told", s.at[p]) >= s.begun[p]
        if not told and s.at[p] < self.places - 1:
            return moved(s, p, now, at=s.at[p] + 1)
        if now == "again":
            there = "give" if told else "mark"
        else:
            there = "idle" if told else "lock" if self.guards.LocksTies else "mark"
        return moved(s, p, there, at=0)

    def take_lock(self, s: State, p: int) -> State | None:
        """A system call: a full barrier."""
        if s.pc[p] != "lock" or s.lock != NOBODY or s.buf[p]:
            return None
        return moved(s._replace(lock=p), p, "again" if self.guards.LooksAtTold else "mark")

    def mark(self, s: State, p: int) -> State | None:
        """This one is told."""
        if s.pc[p] != "mark":
            return None
        after = self._tell(put(s, p, "told", self._place(p), s.begun[p]), p)
        return moved(after, p, "give" if self.guards.LocksTies else "idle")

    def give_lock(self, s: State, p: int) -> State | None:
        """A system call: a full barrier."""
        return moved(s._replace(lock=NOBODY), p, "idle") if s.pc[p] == "give" and not s.buf[p] else None

    # -- readers are given up, and come back ---------------------------------------------------------------------

    def fence(self, s: State, rank: int) -> State | None:
        """Under the members' lock: it is dead, or somebody says so."""
        gone = rank in self.config.fenceable or s.pc[rank] == "dead"
        if s.lock != NOBODY or s.mem.life[rank] or not gone:
            return None
        return s._replace(mem=s.mem._replace(life=replaced(s.mem.life, rank, 1)))

    def come_back(self, s: State, p: int) -> State | None:
        """The second reader is counted from now on."""
        rank = self.rank_of(p)
        if s.pc[p] != "out" or rank not in self.config.back or s.lock != NOBODY or s.mem.life[rank] != 1:
            return None
        after = s._replace(lock=p, mem=s.mem._replace(life=replaced(s.mem.life, rank, 2)))
        return moved(after, p, "barrier" if self.guards.TellBarrier else "start")

    def barrier_reaches(self, s: State, p: int) -> State | None:
        """The barrier has run on the processor of the next reader."""
        if s.pc[p] != "barrier" or s.buf[s.at[p]]:
            return None
        more = s.at[p] < len(self.lines) - 1
        return moved(s, p, "barrier" if more else "start", at=s.at[p] + 1 if more else 0)

    def store_start(self, s: State, p: int) -> State | None:
        """What somebody has begun is over for the rank."""
        if s.pc[p] != "start":
            return None
        begin = max(s.begun)
        after = s._replace(lock=NOBODY, mem=s.mem._replace(cursor=replaced(s.mem.cursor, p, begin)))
        return moved(after, p, "idle", begun=begin, pos=begin)

    # -- the environment -----------------------------------------------------------------------------------------

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL. What is in the store buffer still reaches memory: before the kernel frees its lock."""
        if s.pc[p] in ("out", "dead") or (s.lock == p and s.buf[p]):
            return None
        return moved(s._replace(lock=NOBODY if s.lock == p else s.lock), p, "dead", at=0, last=False)

    # -- claims --------------------------------------------------------------------------------------------------

    def settled(self, s: State) -> bool:
        """Every rank has taken everything, and nobody was given up."""
        done = (not s.buf[p] and s.pc[p] == "idle" and s.pos[p] == self.config.messages for p in self.ranks)
        return not any(s.mem.life) and all(done)

    def all_have_it(self, s: State) -> bool:
        """Of what somebody was told, every rank is done with it."""
        told = max((number for number, count in enumerate(s.heard, 1) if count), default=0)
        return all(max(s.pos[p] for p in self.lines if self.rank_of(p) == rank) >= told for rank in self.ranks)


def liveness(model: RingLast) -> list[LeadsTo[State]]:
    """Return what must happen in the end."""
    return [
        LeadsTo("Ends", partial(_pc, p, ("lives",)), partial(_pc, p, ("idle", "fenced", "dead"))) for p in model.lines
    ]


def _pc(process: int, names: tuple[str, ...], state: State) -> bool:
    return state.pc[process] in names


def fairness(model: RingLast) -> list[Fair[State]]:
    """Return the assumptions: readers go on, their stores arrive, and a lock that is free again and again is got."""
    beside = ("Begin", "TakeLock", "Return", "Flush", "Kill", "Fence")
    names = tuple(name for name in model.actions if name not in beside)
    found: list[Fair[State]] = []
    for p in model.lines:
        found.append(Fair(f"reader {p}", partial(_is, names, p)))
        found.append(Fair(f"lock {p}", partial(_is, ("TakeLock",), p), strong=True))
        found.append(Fair(f"flush {p}", partial(_is, ("Flush",), p)))
    return found


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param("process") == process
