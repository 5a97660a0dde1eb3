"""Setting a shared word and waiting for it, one load or store at a time: twin of ``tla/word/Word.tla``.

Each process has a store buffer, as x86-64 processors have: its stores reach memory later, in their order, and its own
loads see them at once. Processes are numbers: setters 0 .. S-1, waiters S .. S+W-1, and last the one that supersedes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from typing import NamedTuple

from models.kernel import Action, Model, Step
from models.liveness import Fair, LeadsTo

__all__ = ("Config", "Guards", "State", "Word", "fairness", "liveness")

Store = tuple[str, int]
RETURNED = ("done", "replaced", "late")
NOBODY = -1
ENDS = ("", *(f": {end}" for end in RETURNED))


class State(NamedTuple):
    """All variables of the spec. ``mem``: value, waiters, wake, gone."""

    mem: tuple[int, int, int, int]
    buf: tuple[tuple[Store, ...], ...]
    pc: tuple[str, ...]
    seen: tuple[int, ...]
    barred: tuple[frozenset[int], ...]
    counts: tuple[int, ...]
    tokens: int
    sharers: frozenset[int]
    keeper: int
    alive: tuple[bool, ...]


WORDS = ("value", "waiters", "wake", "gone")


@dataclass(frozen=True)
class Guards:
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    Barrier: bool = True
    TokenFirst: bool = True
    ClearsLocked: bool = True
    FreshTokens: bool = True
    Rechecks: bool = True

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Every guard, in the contract's order."""
        return tuple(item.name for item in fields(cls))

    @classmethod
    def without(cls, *names: str) -> Guards:
        """All guards but these."""
        return cls(**dict.fromkeys(names, False))


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The k-th set of a setter stores k; waiters wait for the value ``sets``."""

    setters: int = 1
    waiters: int = 1
    sets: int = 2
    supersede: bool = False
    spurious: bool = True
    limited: bool = False
    mortal: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "S": self.setters,
            "W": self.waiters,
            "Sets": self.sets,
            "Supersede": self.supersede,
            "Spurious": self.spurious,
            "Limited": self.limited,
            "Mortal": self.mortal,
            **{name: getattr(self.guards, name) for name in Guards.names()},
        }


class Word(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        removed = [name for name in Guards.names() if not getattr(config.guards, name)]
        self.name = "word" + "".join(f" without {name}" for name in removed)
        self.guards = config.guards
        self.setters = range(config.setters)
        self.waiters = range(config.setters, config.setters + config.waiters)
        self.closer = config.setters + config.waiters
        everybody = range(self.closer + 1)
        ringers = (*self.setters, self.closer)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "StoreValue": (self.setters, self.store_value),
            "LoadWaiters": (self.setters, self.load_waiters),
            "LoadToken": (self.setters, self.load_token),
            "StoreGone": ((self.closer,), self.store_gone),
            "StoreToken": (ringers, self.store_token),
            "Wake": (ringers, self.wake),
            "TryClear": (self.setters, self.try_clear),
            "Peek": (self.waiters, self.peek),
            "Enter": (self.waiters, self.enter),
            "Announce": (self.waiters, self.announce),
            "BarrierEnds": (self.waiters, self.barrier_ends),
            "SeeToken": (self.waiters, self.see_token),
            "SeeValue": (self.waiters, self.see_value),
            "SeeGone": (self.waiters, self.see_gone),
            "Sleep": (self.waiters, self.sleep),
            "Rouse": (self.waiters, self.rouse),
            "GiveUp": (self.waiters, self.give_up),
            "Leave": (self.waiters, self.leave),
            "ClearFlag": (everybody, self.clear_flag),
            "Unlock": (everybody, self.unlock),
            "Kill": (sorted(config.mortal), self.kill),
            "Freed": (sorted(config.mortal), self.freed),
            "Flush": (everybody, self.flush),
        }
        self.actions = {name: partial(self._each, name, who, step) for name, (who, step) in steps.items()}
        self.actions["BarrierReaches"] = self.barrier_reaches
        self.invariants = {"NoLostWakeUp": self.no_lost_wake_up, "Honest": self.honest, "Flagged": self.flagged}
        self.action_properties = {}
        self.sometimes = {
            "a waiter sleeps": lambda s: "asleep" in s.pc,
            "a waiter has its value": lambda s: "done" in s.pc,
            "a store is on its way while its setter looks for waiters": lambda s: any(
                s.buf[p] and s.pc[p] == "look" for p in self.setters
            ),
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody has done anything."""
        size = self.closer + 1
        pc = ("idle",) * self.config.setters + ("peek",) * self.config.waiters
        pc += ("idle" if self.config.supersede else "over",)
        nothing: frozenset[int] = frozenset()
        zeros = (0,) * size
        yield State(
            mem=(0, 0, 0, 0),
            buf=((),) * size,
            pc=pc,
            seen=zeros,
            barred=(nothing,) * size,
            counts=zeros,
            tokens=0,
            sharers=nothing,
            keeper=NOBODY,
            alive=(True,) * size,
        )

    def _each(
        self, name: str, who: Iterable[int], step: Callable[[State, int], State | None], s: State
    ) -> Iterator[Step[State]]:
        for p in who:
            if (after := step(s, p)) is not None:
                yield Action(name, (("process", p),)), after

    # -- setting -------------------------------------------------------------------------------------------------

    def store_value(self, s: State, p: int) -> State | None:
        """The value is on its way to memory."""
        if s.counts[p] == self.config.sets:
            return None
        after = _at(s, p, "idle", "look")
        return after and _put(after, p, "value", s.counts[p] + 1)._replace(counts=_set(s.counts, p, s.counts[p] + 1))

    def load_waiters(self, s: State, p: int) -> State | None:
        """Nobody waits: the set is over. This is all that a set does then."""
        ring = "token" if self.guards.FreshTokens else "count"
        return _at(s, p, "look", ring if _load(s, p, "waiters") else "idle")

    def load_token(self, s: State, p: int) -> State | None:
        """Without FreshTokens the wake word is a counter, which has to be read first."""
        after = _at(s, p, "count", "token")
        return after and after._replace(seen=_set(s.seen, p, _load(s, p, "wake") + 1))

    def store_gone(self, s: State, p: int) -> State | None:
        """The segment is replaced or unlinked."""
        after = _at(s, p, "idle", "token")
        return after and _put(after, p, "gone", 1)

    def store_token(self, s: State, p: int) -> State | None:
        """The wake word changes: who goes to sleep on the old one does not."""
        after = _at(s, p, "token", "wake")
        if after is None:
            return None
        if self.guards.FreshTokens or p == self.closer:
            return _put(after, p, "wake", s.tokens + 1)._replace(tokens=s.tokens + 1)
        return _put(after, p, "wake", s.seen[p])._replace(seen=_set(s.seen, p, 0))

    def wake(self, s: State, p: int) -> State | None:
        """The system call: a full barrier, and whoever sleeps is woken. If nobody did, the flag may be out of date."""
        on = "over" if p == self.closer else "idle" if "asleep" in s.pc else "try"
        after = _at(s, p, "wake", on)
        if after is None or s.buf[p]:
            return None
        return after._replace(pc=tuple("token" if pc == "asleep" else pc for pc in after.pc))

    def try_clear(self, s: State, p: int) -> State | None:
        """The kernel gives the waiters' lock exclusively only when nobody has it: then nobody waits."""
        free = s.keeper == NOBODY and not s.sharers
        if not self.guards.ClearsLocked:
            return _at(s, p, "try", "clear")
        after = _at(s, p, "try", "clear" if free else "idle")
        return after and after._replace(keeper=p if free else s.keeper)

    def clear_flag(self, s: State, p: int) -> State | None:
        """Nobody waits."""
        after = next((after for end in ENDS if (after := _at(s, p, f"clear{end}", f"unlock{end}"))), None)
        return after and _put(after, p, "waiters", 0)

    def unlock(self, s: State, p: int) -> State | None:
        """A system call: a full barrier. The call, or the wait, is over."""
        after = next((after for end in ENDS if (after := _at(s, p, f"unlock{end}", end.strip(": ") or "idle"))), None)
        if after is None or s.buf[p]:
            return None
        return after._replace(sharers=s.sharers - {p}, keeper=NOBODY if s.keeper == p else s.keeper)

    # -- waiting -------------------------------------------------------------------------------------------------

    def peek(self, s: State, p: int) -> State | None:
        """The value, before anything else."""
        return _at(s, p, "peek", "done" if self._satisfied(s, p) else "enter")

    def enter(self, s: State, p: int) -> State | None:
        """The waiters' lock, shared: as long as a waiter has it, nobody clears the flag."""
        after = _at(s, p, "enter", "announce") if s.keeper == NOBODY else None
        return after and after._replace(sharers=s.sharers | {p})

    def announce(self, s: State, p: int) -> State | None:
        """The flag is raised: the same store for every waiter."""
        first = "token" if self.guards.TokenFirst else "value"
        after = _at(s, p, "announce", "barrier" if self.guards.Barrier else first)
        return after and _put(after, p, "waiters", 1)

    def barrier_reaches(self, s: State) -> Iterator[Step[State]]:
        """The waiter's barrier has run on the processor of a setter: nothing is in its store buffer."""
        for p in self.waiters:
            for setter in self.setters:
                if s.pc[p] == "barrier" and not s.buf[p] and not s.buf[setter] and setter not in s.barred[p]:
                    barred = _set(s.barred, p, s.barred[p] | {setter})
                    yield Action("BarrierReaches", (("process", p), ("setter", setter))), s._replace(barred=barred)

    def barrier_ends(self, s: State, p: int) -> State | None:
        """It has run everywhere."""
        if s.barred[p] != frozenset(self.setters):
            return None
        after = _at(s, p, "barrier", "token" if self.guards.TokenFirst else "value")
        return after and after._replace(barred=_set(s.barred, p, frozenset()))

    def see_token(self, s: State, p: int) -> State | None:
        """The wake word, before the value."""
        if p not in self.waiters:
            return None
        after = _at(s, p, "token", "value" if self.guards.TokenFirst else "gone")
        return after and after._replace(seen=_set(s.seen, p, _load(s, p, "wake")))

    def see_value(self, s: State, p: int) -> State | None:
        """The value: the wait may be over."""
        on = "gone" if self.guards.TokenFirst else "token"
        after = _at(s, p, "value", "leave: done" if self._satisfied(s, p) else on)
        return after and self._forget(after, p)

    def see_gone(self, s: State, p: int) -> State | None:
        """The segment's end: the wait may be over too."""
        after = _at(s, p, "gone", "leave: replaced" if _load(s, p, "gone") else "sleep")
        return after and self._forget(after, p)

    def sleep(self, s: State, p: int) -> State | None:
        """The system call: a full barrier; it sleeps if the wake word is still the one that was seen."""
        first = "token" if self.guards.TokenFirst else "value"
        after = _at(s, p, "sleep", "asleep" if s.mem[2] == s.seen[p] else first)
        return None if after is None or s.buf[p] else self._forget(after, p)

    def rouse(self, s: State, p: int) -> State | None:
        """The wait ends without a reason, or its bounded interval is over."""
        first = "token" if self.guards.TokenFirst else "value"
        return _at(s, p, "asleep", first) if self.config.spurious or self.guards.Rechecks else None

    def give_up(self, s: State, p: int) -> State | None:
        """The time limit of the wait is over, after a last look."""
        after = _at(s, p, "sleep", "leave: late") if self.config.limited else None
        return after and self._forget(after, p)

    def leave(self, s: State, p: int) -> State | None:
        """The last waiter lowers the flag, for which it needs the lock exclusively; any other one just goes."""
        what, _, end = s.pc[p].partition(": ")
        if what != "leave" or s.buf[p]:
            return None
        if s.sharers != {p}:
            return s._replace(pc=_set(s.pc, p, f"unlock: {end}"))
        return s._replace(pc=_set(s.pc, p, f"clear: {end}"), sharers=s.sharers - {p}, keeper=p)

    # -- the environment -----------------------------------------------------------------------------------------

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL. What is in the store buffer still reaches memory."""
        if not s.alive[p]:
            return None
        nothing: frozenset[int] = frozenset()
        return s._replace(
            alive=_set(s.alive, p, False),
            pc=_set(s.pc, p, "dead"),
            seen=_set(s.seen, p, 0),
            barred=_set(s.barred, p, nothing),
        )

    def freed(self, s: State, p: int) -> State | None:
        """The kernel frees the locks of the dead, after its stores have reached memory."""
        if s.alive[p] or s.buf[p] or (p not in s.sharers and s.keeper != p):
            return None
        return s._replace(sharers=s.sharers - {p}, keeper=NOBODY if s.keeper == p else s.keeper)

    def flush(self, s: State, p: int) -> State | None:
        """The oldest store reaches memory."""
        if not s.buf[p]:
            return None
        (word, value), *rest = s.buf[p]
        return s._replace(mem=_set(s.mem, WORDS.index(word), value), buf=_set(s.buf, p, tuple(rest)))

    def _satisfied(self, s: State, p: int) -> bool:
        return _load(s, p, "value") == self.config.sets

    def _forget(self, s: State, p: int) -> State:
        """A token that is not used any more is no part of the state."""
        return s if s.pc[p] in ("value", "gone", "sleep") else s._replace(seen=_set(s.seen, p, 0))

    # -- claims --------------------------------------------------------------------------------------------------

    def settled(self, s: State) -> bool:
        """No process that changes anything has anything left to do, and all of it is in memory."""
        return not any(s.buf) and all(
            pc in ("dead", "over") or (pc == "idle" and s.counts[p] == self.config.sets)
            for p, pc in enumerate(s.pc)
            if p not in self.waiters
        )

    def due(self, s: State) -> bool:
        """A wait has a reason to end."""
        return s.mem[0] == self.config.sets or s.mem[3] == 1

    def no_lost_wake_up(self, s: State) -> bool:
        """Nobody sleeps for ever: if no setter was killed, a wake-up comes."""
        changers = (*self.setters, self.closer)
        return not (all(s.alive[p] for p in changers) and self.settled(s) and self.due(s) and "asleep" in s.pc)

    def honest(self, s: State) -> bool:
        """A wait that has returned had a reason."""
        reached = any(count == self.config.sets for count in s.counts)
        return all((pc != "done" or reached) and (pc != "replaced" or s.mem[3] == 1) for pc in s.pc)

    def flagged(self, s: State) -> bool:
        """Whoever sleeps has the flag up, in memory."""
        return "asleep" not in s.pc or s.mem[1] == 1


def _set(values: tuple, index: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:index], value, *values[index + 1 :])


def _at(s: State, p: int, at: str, to: str) -> State | None:
    return s._replace(pc=_set(s.pc, p, to)) if s.pc[p] == at else None


def _put(s: State, p: int, word: str, value: int) -> State:
    return s._replace(buf=_set(s.buf, p, (*s.buf[p], (word, value))))


def _load(s: State, p: int, word: str) -> int:
    own = [value for name, value in s.buf[p] if name == word]
    return own[-1] if own else s.mem[WORDS.index(word)]


def liveness(model: Word) -> list[LeadsTo[State]]:
    """Return what must happen in the end, also when setters are killed."""
    return [
        LeadsTo(
            "WaitsEnd",
            lambda s: model.settled(s) and model.due(s),
            lambda s: all(s.pc[p] in (*RETURNED, "dead") for p in model.waiters),
        )
    ]


def fairness(model: Word) -> list[Fair[State]]:
    """Return the assumptions: processes go on, stores arrive, and a bounded sleep ends."""
    found = []
    for p in range(model.closer + 1):
        found.append(Fair(f"Flush {p}", partial(_is, ("Flush", "Freed"), p)))
        found.append(Fair(f"Unlock {p}", partial(_is, ("ClearFlag", "Unlock"), p)))
    for p in model.waiters:
        names = tuple(name for name in model.actions if name not in ("Flush", "Rouse", "GiveUp", "Kill", "Freed"))
        found.append(Fair(f"waiter {p}", partial(_is, names, p)))
        if model.guards.Rechecks:
            found.append(Fair(f"Rouse {p}", partial(_is, ("Rouse",), p)))
    return found


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param("process") == process
