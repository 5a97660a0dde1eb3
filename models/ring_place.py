"""The writer's place, when several processes put in turn: twin of ``tla/ring/RingPlace.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

from models.guards import Removable
from models.kernel import Action, Model, each, replaced
from models.liveness import Fair, LeadsTo

__all__ = ("Config", "Guards", "RingPlace", "State", "fairness", "liveness")

NOBODY = -1
HELD = ("name", "see", "fill", "publish", "give")
_STEPS = ("Take", "Name", "See", "Fill", "Publish", "Give")


class State(NamedTuple):
    """All variables of the spec."""

    seq: tuple[int, ...]
    data: tuple[int, ...]
    cursor: int
    lock: int
    pid: int
    pc: tuple[str, ...]
    known: tuple[int, ...]
    asked: tuple[int, ...]
    stopped: frozenset[int]
    told: tuple[int, ...]
    got: tuple[int, ...]
    sent: tuple[int, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    SeesAgain: bool = True
    KernelLock: bool = True
    TakesLock: bool = True
    GivesBack: bool = True
    AsksLife: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    writers: int = 2
    slots: int = 1
    puts: int = 1
    mortal: frozenset[int] = frozenset()
    stoppable: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "W": self.writers,
            "K": self.slots,
            "Puts": self.puts,
            "Mortal": self.mortal,
            "Stoppable": self.stoppable,
            **asdict(self.guards),
        }


class RingPlace(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.guards = config.guards
        self.name = config.guards.title("ring.place")
        self.writers = range(config.writers)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "Ask": (self.writers, self.ask),
            "Take": (self.writers, self.take),
            "Name": (self.writers, self.name_it),
            "See": (self.writers, self.see),
            "Fill": (self.writers, self.fill),
            "Publish": (self.writers, self.publish),
            "Give": (self.writers, self.give),
            "GiveUp": (self.writers, self.give_up),
            "Read": ((0,), self.read),
            "Stop": (sorted(config.stoppable), self.stop),
            "Kill": (sorted(config.mortal), self.kill),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.invariants = {
            "InOrder": lambda s: s.got == s.sent[: len(s.got)],
            "NoneSkipped": lambda s: max(s.seq) == len(s.sent),
            "OneAtATime": lambda s: sum(pc in HELD for pc in s.pc) <= 1,
            "HeldByTheLiving": lambda s: s.lock == NOBODY or s.pc[s.lock] in HELD,
        }
        self.action_properties = {"NamesTheHolder": self.names_the_holder}
        self.sometimes = {
            "two wait": lambda s: s.pc.count("wait") == 2,
            "everything was read": lambda s: len(s.got) == config.writers * config.puts,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was put."""
        none, slots = (0,) * self.config.writers, (0,) * self.config.slots
        told = (NOBODY,) * self.config.writers
        yield State(slots, slots, 0, NOBODY, NOBODY, ("idle",) * len(none), none, none, frozenset(), told, (), ())

    def _at(self, s: State, p: int, there: str) -> bool:
        return s.pc[p] == there and p not in s.stopped

    def _to(self, s: State, p: int, there: str, **fields: Any) -> State:
        return s._replace(pc=replaced(s.pc, p, there), **fields)

    def _message(self, s: State, p: int) -> int:
        return p * self.config.puts + s.asked[p]

    def ask(self, s: State, p: int) -> State | None:
        """A put begins."""
        if not self._at(s, p, "idle") or s.asked[p] == self.config.puts:
            return None
        return self._to(s, p, "wait" if self.guards.TakesLock else "see", asked=replaced(s.asked, p, s.asked[p] + 1))

    def take(self, s: State, p: int) -> State | None:
        """The lock is free."""
        return self._to(s, p, "name", lock=p) if self._at(s, p, "wait") and s.lock == NOBODY else None

    def name_it(self, s: State, p: int) -> State | None:
        """Who has the place says so."""
        return self._to(s, p, "see", pid=p) if self._at(s, p, "name") else None

    def see(self, s: State, p: int) -> State | None:
        """The state of the ring is what is in its memory now."""
        if not self._at(s, p, "see"):
            return None
        return self._to(s, p, "fill", known=replaced(s.known, p, max(s.seq)) if self.guards.SeesAgain else s.known)

    def fill(self, s: State, p: int) -> State | None:
        """When the slot is free."""
        number = s.known[p] + 1
        if not self._at(s, p, "fill") or number - self.config.slots > s.cursor:
            return None
        slot = (number - 1) % self.config.slots
        return self._to(s, p, "publish", data=replaced(s.data, slot, self._message(s, p)))

    def publish(self, s: State, p: int) -> State | None:
        """The number is stored."""
        if not self._at(s, p, "publish"):
            return None
        number = s.known[p] + 1
        return self._to(
            s,
            p,
            "give" if self.guards.TakesLock else "idle",
            seq=replaced(s.seq, (number - 1) % self.config.slots, number),
            known=replaced(s.known, p, number),
            sent=(*s.sent, self._message(s, p)),
        )

    def give(self, s: State, p: int) -> State | None:
        """The lock is given back."""
        lock = NOBODY if self.guards.GivesBack else s.lock
        return self._to(s, p, "idle", lock=lock, pid=NOBODY) if self._at(s, p, "give") else None

    def give_up(self, s: State, p: int) -> State | None:
        """A writer that waits in vain is told who has the place."""
        if not self._at(s, p, "wait") or s.lock not in s.stopped:
            return None
        unknown = s.pid == NOBODY or (self.guards.AsksLife and s.pc[s.pid] == "dead")
        return self._to(s, p, "idle", told=replaced(s.told, p, self.config.writers if unknown else s.pid))

    def read(self, s: State, line: int) -> State | None:
        """The slowest reader takes the next message."""
        slot = s.cursor % self.config.slots
        if s.seq[slot] != s.cursor + 1:
            return None
        return s._replace(got=(*s.got, s.data[slot]), cursor=s.cursor + 1)

    def stop(self, s: State, p: int) -> State | None:
        """SIGSTOP, for ever."""
        return s._replace(stopped=s.stopped | {p}) if p not in s.stopped and s.pc[p] != "dead" else None

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL."""
        if s.pc[p] == "dead":
            return None
        lock = NOBODY if s.lock == p and self.guards.KernelLock else s.lock
        return self._to(s, p, "dead", lock=lock, stopped=s.stopped - {p})

    def names_the_holder(self, s: State, action: Action, then: State) -> bool:
        """Who is told a name is told that of the process that has the place, and is stopped."""
        del action
        new = [b for a, b in zip(s.told, then.told, strict=True) if b not in (a, self.config.writers)]
        return all(name == s.lock and name in s.stopped for name in new)


def liveness(model: RingPlace) -> list[LeadsTo[State]]:
    """Return what must happen in the end where nobody is stopped."""
    return [LeadsTo("PutsEnd", partial(_pc, p, ("wait",)), partial(_ended, p)) for p in model.writers]


def _pc(process: int, names: tuple[str, ...], state: State) -> bool:
    return state.pc[process] in names


def _ended(process: int, state: State) -> bool:
    return state.pc[process] in ("idle", "dead") or bool(state.stopped)


def fairness(model: RingPlace) -> list[Fair[State]]:
    """Return the assumptions: writers and the reader go on."""
    found = [Fair(f"writer {p}", partial(_is, _STEPS, p)) for p in model.writers]
    return [*found, Fair("reader", partial(_is, ("Read",), 0))]


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param("process") == process
