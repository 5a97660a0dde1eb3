"""Sleeping and waking at the ring, one load or store at a time: twin of ``tla/ring/RingWait.tla``.

Processes are numbers: tellers 0 .. T-1, sleepers T .. T+S-1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import NamedTuple

from models.guards import Removable
from models.kernel import Action, Model, each, replaced
from models.liveness import Fair, LeadsTo
from models.store_buffers import flush, load, moved, put

__all__ = ("Config", "Guards", "Mem", "RingWait", "State", "fairness", "liveness")

Store = tuple[str, int, int]


class Mem(NamedTuple):
    """The words in memory."""

    word: tuple[int, ...]
    flag: tuple[int, ...]
    bell: tuple[int, ...]


class State(NamedTuple):
    """All variables of the spec."""

    mem: Mem
    buf: tuple[tuple[Store, ...], ...]
    pc: tuple[str, ...]
    at: tuple[int, ...]
    seen: tuple[int, ...]
    counts: tuple[int, ...]
    alive: tuple[bool, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    LooksAfter: bool = True
    Barrier: bool = True
    BellFirst: bool = True
    FreshBell: bool = True
    OwnFlag: bool = True
    Rechecks: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    tellers: int = 1
    sleepers: int = 1
    tells: int = 1
    mortal: frozenset[int] = frozenset()
    spurious: bool = True
    decides: bool = False
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "T": self.tellers,
            "S": self.sleepers,
            "Tells": self.tells,
            "Mortal": self.mortal,
            "Spurious": self.spurious,
            "Decides": self.decides,
            **asdict(self.guards),
        }


class RingWait(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = config.guards.title("ring.wait")
        self.guards = config.guards
        self.tellers = range(config.tellers)
        self.sleepers = range(config.tellers, config.tellers + config.sleepers)
        everybody = range(config.tellers + config.sleepers)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "StoreWord": (self.tellers, self.store_word),
            "LoadFlags": (self.tellers, self.load_flags),
            "StoreBell": (self.tellers, self.store_bell),
            "Wake": (self.tellers, self.wake),
            "LowerAll": (self.tellers, self.lower_all),
            "Peek": (self.sleepers, self.peek),
            "RaiseFlag": (self.sleepers, self.raise_flag),
            "BarrierReaches": (self.sleepers, self.barrier_reaches),
            "SeeBell": (self.sleepers, self.see_bell),
            "SeeDue": (self.sleepers, self.see_due),
            "Sleep": (self.sleepers, self.sleep),
            "Rouse": (self.sleepers, self.rouse),
            "SeeAgain": (self.sleepers, self.see_again),
            "LowerFlag": (self.sleepers, self.lower_flag),
            "Flush": (everybody, flush),
            "Kill": (sorted(config.mortal), self.kill),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.invariants = {"NoLostWakeUp": self.no_lost_wake_up, "Honest": self.honest}
        self.action_properties = {}
        self.sometimes = {
            "somebody sleeps": lambda s: "asleep" in s.pc,
            "a wait is over": lambda s: "done" in s.pc,
            "a store is on its way while its teller looks for flags": lambda s: (
                any(s.buf[p] and s.pc[p] == "look" for p in self.tellers) or not self.guards.LooksAfter
            ),
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was told."""
        t, size = self.config.tellers, self.config.tellers + self.config.sleepers
        zeros = (0,) * size
        yield State(
            mem=Mem((0,) * t, zeros, (0,)),
            buf=((),) * size,
            pc=("idle",) * t + ("peek",) * (size - t),
            at=zeros,
            seen=zeros,
            counts=(0,) * t + (1,) * (size - t),
            alive=(True,) * size,
        )

    # -- telling -------------------------------------------------------------------------------------------------

    def store_word(self, s: State, p: int) -> State | None:
        """What the sleepers wait for is on its way to memory."""
        after = self.guards.LooksAfter
        if s.pc[p] != ("idle" if after else "store") or s.counts[p] == self.config.tells:
            return None
        on = "look" if after else "bell" if s.seen[p] else "idle"
        return put(moved(s, p, on, counts=s.counts[p] + 1), p, "word", p, s.counts[p] + 1)

    def load_flags(self, s: State, p: int) -> State | None:
        """Nobody sleeps: this is all."""
        after = self.guards.LooksAfter
        if s.pc[p] != ("look" if after else "idle") or (s.counts[p] == self.config.tells and not after):
            return None
        up = any(load(s, p, "flag", q) for q in self.sleepers)
        token = s.counts[p] * self.config.tellers + p + 1 if self.guards.FreshBell else s.mem.bell[0] + 1
        return moved(s, p, ("bell" if up else "idle") if after else "store", seen=token if up else 0)

    def store_bell(self, s: State, p: int) -> State | None:
        """Who was about to sleep on the old value does not."""
        return put(moved(s, p, "wake", seen=0), p, "bell", 0, s.seen[p]) if s.pc[p] == "bell" else None

    def wake(self, s: State, p: int) -> State | None:
        """The system call: a full barrier, and whoever sleeps is woken."""
        if s.pc[p] != "wake" or s.buf[p]:
            return None
        after = moved(s, p, "idle" if self.guards.OwnFlag else "lower")
        return after._replace(pc=tuple("again" if pc == "asleep" else pc for pc in after.pc))

    def lower_all(self, s: State, p: int) -> State | None:
        """Only without OwnFlag: who has woken everybody lowers the flag."""
        return put(moved(s, p, "idle"), p, "flag", self.config.tellers, 0) if s.pc[p] == "lower" else None

    # -- sleeping ------------------------------------------------------------------------------------------------

    def _look(self, s: State, p: int, due: str, otherwise: str) -> State:
        there = load(s, p, "word", s.at[p]) >= s.counts[p]
        if there and s.at[p] < self.config.tellers - 1:
            return moved(s, p, s.pc[p], at=s.at[p] + 1)
        return moved(s, p, due if there else otherwise, at=0)

    def peek(self, s: State, p: int) -> State | None:
        """A look before anything else; what is due is taken, and the next thing waited for."""
        if s.pc[p] != "peek":
            return None
        last = s.counts[p] == self.config.tells
        after = self._look(s, p, "done" if last else "peek", "flag")
        over = after.pc[p] in ("done", "peek") and s.at[p] == self.config.tellers - 1 and not last
        return after._replace(counts=replaced(s.counts, p, s.counts[p] + 1)) if over else after

    def _flag(self, p: int) -> int:
        return p if self.guards.OwnFlag else self.config.tellers

    def _first(self) -> str:
        return "token" if self.guards.BellFirst else "due"

    def raise_flag(self, s: State, p: int) -> State | None:
        """From now on, tellers wake."""
        if s.pc[p] != "flag":
            return None
        return put(moved(s, p, "barrier" if self.guards.Barrier else self._first()), p, "flag", self._flag(p), 1)

    def barrier_reaches(self, s: State, p: int) -> State | None:
        """The barrier has run on the processor of the next teller."""
        if s.pc[p] != "barrier" or s.buf[p] or s.buf[s.at[p]]:
            return None
        more = s.at[p] < self.config.tellers - 1
        return moved(s, p, "barrier" if more else self._first(), at=s.at[p] + 1 if more else 0)

    def see_bell(self, s: State, p: int) -> State | None:
        """The futex word, before the look."""
        on = "due" if self.guards.BellFirst else "sleep"
        return moved(s, p, on, seen=load(s, p, "bell", 0)) if s.pc[p] == "token" else None

    def see_due(self, s: State, p: int) -> State | None:
        """The look that decides."""
        if s.pc[p] != "due":
            return None
        due = self._due()
        after = self._look(s, p, due, "sleep" if self.guards.BellFirst else "token")
        return moved(after, p, due, seen=0) if after.pc[p] == due else after

    def _due(self) -> str:
        """Where a look with the flag up says that it is due: a writer is done, a reader looks once more."""
        return "over" if self.config.decides else "down"

    def sleep(self, s: State, p: int) -> State | None:
        """The system call: a full barrier; it sleeps if the futex word is still what was seen."""
        if s.pc[p] != "sleep" or s.buf[p]:
            return None
        return moved(s, p, "asleep" if s.mem.bell[0] == s.seen[p] else "again", seen=0)

    def rouse(self, s: State, p: int) -> State | None:
        """The sleep ends without a reason, or its interval is over."""
        awake = s.pc[p] == "asleep" and (self.config.spurious or self.guards.Rechecks)
        return moved(s, p, "again") if awake else None

    def see_again(self, s: State, p: int) -> State | None:
        """A look to say whether it was woken for a reason."""
        return self._look(s, p, self._due(), "down") if s.pc[p] == "again" else None

    def lower_flag(self, s: State, p: int) -> State | None:
        """Awake: the flag is this sleeper's own."""
        if s.pc[p] not in ("down", "over"):
            return None
        if s.pc[p] == "down":
            after = moved(s, p, "peek")
        else:
            last = s.counts[p] == self.config.tells
            after = moved(s, p, "done" if last else "peek", counts=s.counts[p] + (not last))
        return put(after, p, "flag", self._flag(p), 0)

    # -- the environment -----------------------------------------------------------------------------------------

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL. What is in the store buffer still reaches memory."""
        return moved(s, p, "dead", alive=False, seen=0, at=0) if s.alive[p] else None

    # -- claims --------------------------------------------------------------------------------------------------

    def settled(self, s: State) -> bool:
        """Every teller has told all, and all of it is in memory."""
        told = ((s.pc[p], s.counts[p]) for p in self.tellers)
        return not any(s.buf) and all(pc == "dead" or (pc, n) == ("idle", self.config.tells) for pc, n in told)

    def due(self, s: State, p: int) -> bool:
        """What a sleeper waits for is there."""
        return all(word >= s.counts[p] for word in s.mem.word)

    def no_lost_wake_up(self, s: State) -> bool:
        """Nobody sleeps on whose turn has come, if no teller was killed."""
        lost = any(s.pc[p] == "asleep" and self.due(s, p) for p in self.sleepers)
        return not (lost and self.settled(s) and all(s.alive[p] for p in self.tellers))

    def honest(self, s: State) -> bool:
        """A wait that has ended had a reason."""
        return "done" not in s.pc or all(s.counts[p] == self.config.tells for p in self.tellers)


def liveness(model: RingWait) -> list[LeadsTo[State]]:
    """Return what must happen in the end, also when tellers are killed."""

    def begins(p: int, s: State) -> bool:
        return model.settled(s) and model.due(s, p) and s.counts[p] == model.config.tells

    return [
        LeadsTo("WaitsEnd", partial(begins, p), partial(lambda p, s: s.pc[p] in ("done", "dead"), p))
        for p in model.sleepers
    ]


def fairness(model: RingWait) -> list[Fair[State]]:
    """Return the assumptions: sleepers go on, stores arrive, and a bounded sleep ends."""
    found = [Fair(f"Flush {p}", partial(_is, ("Flush",), p)) for p in (*model.tellers, *model.sleepers)]
    names = tuple(name for name in model.actions if name not in ("Flush", "Rouse", "Kill"))
    for p in model.sleepers:
        found.append(Fair(f"sleeper {p}", partial(_is, names, p)))
        if model.guards.Rechecks:
            found.append(Fair(f"Rouse {p}", partial(_is, ("Rouse",), p)))
    return found


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param("process") == process
