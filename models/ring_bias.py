"""The writer's place when one process puts again and again: twin of ``tla/ring/RingBias.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from models.kernel import Action, Model, each, replaced
from models.liveness import Fair, LeadsTo
from models.ring_bias_state import Config, Guards, Mem, State

__all__ = ("Config", "Guards", "RingBias", "State", "fairness", "liveness")

NOBODY = -1
SLOW = ("check", "revoke", "barrier", "await", "life", "late")
INSIDE = ("settle", "see", "publish", "leave", "keep", "clean", "claim", "give")
_MARKED = ("look", "unmark", "see", "publish", "leave")
_STEPS = (
    *("StoreMark", "LoadBias", "Unmark", "Drop", "Leave", "Take", "SeeBias", "StoreRevoke", "BarrierReaches"),
    *("SeePutting", "SeeLife", "StoreNobody", "StoreClean", "StoreClaim", "Give", "See", "Publish"),
)


class RingBias(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.guards = config.guards
        self.name = config.guards.title("ring.bias")
        self.writers = range(config.writers)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "Ask": (self.writers, self.ask),
            "StoreMark": (self.writers, self.store_mark),
            "LoadBias": (self.writers, self.load_bias),
            "Unmark": (self.writers, self.unmark),
            "Drop": (self.writers, self.drop),
            "Leave": (self.writers, self.leave),
            "Take": (self.writers, self.take),
            "SeeBias": (self.writers, self.see_bias),
            "StoreRevoke": (self.writers, self.store_revoke),
            "BarrierReaches": (self.writers, self.barrier_reaches),
            "SeePutting": (self.writers, self.see_putting),
            "SeeLife": (self.writers, self.see_life),
            "GiveUp": (self.writers, self.give_up),
            "StoreNobody": (self.writers, self.store_nobody),
            "TakeToken": (self.writers, self.take_token),
            "StoreClean": (self.writers, self.store_clean),
            "StoreClaim": (self.writers, self.store_claim),
            "Give": (self.writers, self.give),
            "See": (self.writers, self.see),
            "Publish": (self.writers, self.publish),
            "Cut": (self.writers, self.cut),
            "Flush": (self.writers, self.flush),
            "Stop": (sorted(config.stoppable), self.stop),
            "Kill": (sorted(config.mortal), self.kill),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.invariants = {
            "OneAtATime": lambda s: sum(pc in INSIDE for pc in s.pc) <= 1,
            "NumbersGoUp": lambda s: s.sent == tuple(range(1, len(s.sent) + 1)),
            "HeldByTheLiving": self.held_by_the_living,
            "IdleSaysSo": self.idle_says_so,
        }
        self.action_properties = {}
        self.sometimes = {
            "a biased one puts": lambda s: any(m and pc == "publish" for m, pc in zip(s.mine, s.pc, strict=True)),
            "two have a token": lambda s: sum(mine > 0 for mine in s.mine) == 2,
            "a bias is ended during a put": lambda s: s.mem.bias[0] < 0 and "publish" in s.pc,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was put, and nobody is biased."""
        config = self.config
        none = (0,) * config.writers
        mem = Mem((0,), (0,) * config.tokens, (0,))
        no = (False,) * config.writers
        free = (NOBODY,) * config.tokens
        buf: tuple[Any, ...] = ((),) * config.writers
        yield State(mem, buf, ("idle",) * len(none), none, none, none, none, no, none, NOBODY, free, frozenset(), ())

    # -- what steps are made of --------------------------------------------------------------------------------------

    def _at(self, s: State, p: int, *there: str) -> bool:
        return s.pc[p] in there and p not in s.stopped

    def _to(self, s: State, p: int, there: str, **fields: Any) -> State:
        return s._replace(pc=replaced(s.pc, p, there), **fields)

    def _load(self, s: State, p: int, word: str, place: int) -> int:
        for name, at, value in reversed(s.buf[p]):
            if (name, at) == (word, place):
                return value
        return int(getattr(s.mem, word)[self._index(word, place)])

    def _index(self, word: str, place: int) -> int:
        return place - 1 if word == "putting" else place

    def _store(self, s: State, p: int, word: str, place: int, value: int) -> State:
        return s._replace(buf=replaced(s.buf, p, (*s.buf[p], (word, place, value))))

    def _word(self, token: int) -> int:
        return token if self.guards.TokenWord else 1

    def _say(self, s: State, p: int, value: int) -> State:
        return self._store(s, p, "putting", self._word(s.mine[p]), value)

    def ask(self, s: State, p: int) -> State | None:
        """A put begins."""
        if not self._at(s, p, "idle") or s.asked[p] == self.config.puts:
            return None
        first = "wait" if not s.mine[p] else "mark" if self.guards.SaysFirst else "look"
        return self._to(s, p, first, asked=replaced(s.asked, p, s.asked[p] + 1))

    # -- with a token ------------------------------------------------------------------------------------------------

    def _begin(self, s: State, p: int) -> State:
        there = "publish" if s.sure[p] or not self.guards.Doubts else "see"
        return self._to(s, p, there, sure=replaced(s.sure, p, False))

    def store_mark(self, s: State, p: int) -> State | None:
        """It says that it puts."""
        if not self._at(s, p, "mark"):
            return None
        said = self._say(s, p, 1)
        return self._to(said, p, "look") if self.guards.SaysFirst else self._begin(said, p)

    def load_bias(self, s: State, p: int) -> State | None:
        """It looks whether it is still biased."""
        if not self._at(s, p, "look"):
            return None
        if self._load(s, p, "bias", 0) != s.mine[p]:
            return self._to(s, p, "unmark")
        return self._begin(s, p) if self.guards.SaysFirst else self._to(s, p, "mark")

    def unmark(self, s: State, p: int) -> State | None:
        """It is not."""
        return self._to(self._say(s, p, 0), p, "drop") if self._at(s, p, "unmark") else None

    def drop(self, s: State, p: int) -> State | None:
        """The token is given back."""
        if not self._at(s, p, "drop") or s.buf[p]:
            return None
        held = replaced(s.held, s.mine[p] - 1, NOBODY)
        return self._to(s, p, "wait", held=held, mine=replaced(s.mine, p, 0), sure=replaced(s.sure, p, False))

    def leave(self, s: State, p: int) -> State | None:
        """The put is over."""
        return self._to(self._say(s, p, 0), p, "idle") if self._at(s, p, "leave") else None

    # -- without one -------------------------------------------------------------------------------------------------

    def take(self, s: State, p: int) -> State | None:
        """The kernel's lock is free."""
        ready = self._at(s, p, "wait") and not s.buf[p] and s.lock == NOBODY
        return self._to(s, p, "check", lock=p) if ready else None

    def _reached(self, p: int) -> str:
        return "barrier" if self.guards.EndBarrier and p not in self.config.deaf else "await"

    def see_bias(self, s: State, p: int) -> State | None:
        """Is somebody biased?"""
        if not self._at(s, p, "check"):
            return None
        bias = self._load(s, p, "bias", 0)
        there = "see" if not bias else "revoke" if bias > 0 else self._reached(p)
        return self._to(s, p, there, aim=replaced(s.aim, p, abs(bias)))

    def store_revoke(self, s: State, p: int) -> State | None:
        """The bias is marked as one that ends."""
        if not self._at(s, p, "revoke"):
            return None
        mark = -s.aim[p] if self.guards.Marks else 0
        return self._to(self._store(s, p, "bias", 0, mark), p, self._reached(p))

    def barrier_reaches(self, s: State, p: int) -> State | None:
        """Membarrier runs on the processor of the next process."""
        if not self._at(s, p, "barrier") or s.buf[p] or s.buf[s.at[p]]:
            return None
        last = s.at[p] == self.config.writers - 1
        return self._to(s, p, "await" if last else "barrier", at=replaced(s.at, p, 0 if last else s.at[p] + 1))

    def see_putting(self, s: State, p: int) -> State | None:
        """Does the biased one put?"""
        if not self._at(s, p, "await", "late"):
            return None
        said = p not in self.config.deaf and self._load(s, p, "putting", self._word(s.aim[p])) == 0
        if not self.guards.WaitsOut or said:
            return self._to(s, p, "settle")
        return self._to(s, p, "life" if self.guards.AsksToken else "late")

    def see_life(self, s: State, p: int) -> State | None:
        """Does it live, and has its token?"""
        if not self._at(s, p, "life") or s.buf[p]:
            return None
        return self._to(s, p, "settle" if s.held[s.aim[p] - 1] == NOBODY else "late")

    def give_up(self, s: State, p: int) -> State | None:
        """The time is over."""
        if not self._at(s, p, "wait", "late") or s.buf[p] or s.lock == NOBODY:
            return None
        return self._to(s, p, "idle", lock=NOBODY if s.pc[p] == "late" else s.lock, aim=replaced(s.aim, p, 0))

    def store_nobody(self, s: State, p: int) -> State | None:
        """Nobody is biased any more."""
        if not self._at(s, p, "settle"):
            return None
        return self._to(self._store(s, p, "bias", 0, 0), p, "see", aim=replaced(s.aim, p, 0))

    def take_token(self, s: State, p: int) -> State | None:
        """It has put often enough: it takes the first token that is free."""
        free = NOBODY in s.held
        if not self._at(s, p, "keep") or s.buf[p] or p in self.config.deaf or not free:
            return None
        place = s.held.index(NOBODY)
        mine, sure = replaced(s.mine, p, place + 1), replaced(s.sure, p, True)
        there = "clean" if self.guards.CleansWord else "claim"
        return self._to(s, p, there, held=replaced(s.held, place, p), mine=mine, sure=sure)

    def store_clean(self, s: State, p: int) -> State | None:
        """Who had it may have been killed in a put."""
        return self._to(self._say(s, p, 0), p, "claim") if self._at(s, p, "clean") else None

    def store_claim(self, s: State, p: int) -> State | None:
        """It is biased."""
        return self._to(self._store(s, p, "bias", 0, s.mine[p]), p, "give") if self._at(s, p, "claim") else None

    def give(self, s: State, p: int) -> State | None:
        """The kernel's lock is given back."""
        return self._to(s, p, "idle", lock=NOBODY) if self._at(s, p, "keep", "give") and not s.buf[p] else None

    # -- the put -----------------------------------------------------------------------------------------------------

    def see(self, s: State, p: int) -> State | None:
        """The last number is read from memory."""
        if not self._at(s, p, "see"):
            return None
        known = self._load(s, p, "head", 0) if self.guards.ReadsHead else s.known[p]
        return self._to(s, p, "publish", known=replaced(s.known, p, known))

    def _publishes(self, s: State, p: int, there: str) -> State:
        number = s.known[p] + 1
        return self._to(self._store(s, p, "head", 0, number), p, there, sent=(*s.sent, number))

    def publish(self, s: State, p: int) -> State | None:
        """The next number is stored, and noted."""
        if not self._at(s, p, "publish"):
            return None
        done = self._publishes(s, p, "leave" if s.mine[p] else "keep")
        known, sure = replaced(s.known, p, s.known[p] + 1), replaced(s.sure, p, s.mine[p] != 0)
        return done._replace(known=known, sure=sure)

    def cut(self, s: State, p: int) -> State | None:
        """It is stored, and an interrupt comes before it is noted."""
        if not self.config.cuts or not self._at(s, p, "publish"):
            return None
        return self._publishes(s, p, "leave" if s.mine[p] else "give")

    # -- the environment ---------------------------------------------------------------------------------------------

    def flush(self, s: State, p: int) -> State | None:
        """The oldest store of a process reaches memory."""
        if not s.buf[p]:
            return None
        (word, place, value), *rest = s.buf[p]
        cells = replaced(getattr(s.mem, word), self._index(word, place), value)
        return s._replace(mem=s.mem._replace(**{word: cells}), buf=replaced(s.buf, p, tuple(rest)))

    def stop(self, s: State, p: int) -> State | None:
        """SIGSTOP, for ever."""
        return s._replace(stopped=s.stopped | {p}) if p not in s.stopped and s.pc[p] != "dead" else None

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL. The kernel frees its locks when the last of its stores is in memory."""
        if s.pc[p] == "dead" or s.buf[p]:
            return None
        zeros = {name: replaced(getattr(s, name), p, 0) for name in ("mine", "aim", "at", "known")}
        held = tuple(NOBODY if holder == p else holder for holder in s.held)
        lock, stopped, sure = NOBODY if s.lock == p else s.lock, s.stopped - {p}, replaced(s.sure, p, False)
        return self._to(s, p, "dead", lock=lock, held=held, stopped=stopped, sure=sure, **zeros)

    # -- claims ------------------------------------------------------------------------------------------------------

    def held_by_the_living(self, s: State) -> bool:
        """The place is held by somebody who lives, and a token by who believes it has it."""
        tokens = all(not s.mine[p] or (s.held[s.mine[p] - 1] == p and s.pc[p] != "dead") for p in self.writers)
        return tokens and (s.lock == NOBODY or s.pc[s.lock] in (*SLOW, *INSIDE))

    def idle_says_so(self, s: State) -> bool:
        """A biased process between two puts holds nobody up."""
        idle = [p for p in self.writers if s.mine[p] and s.pc[p] == "idle" and not s.buf[p]]
        return all(s.mem.putting[self._word(s.mine[p]) - 1] == 0 for p in idle)


def liveness(model: RingBias) -> list[LeadsTo[State]]:
    """Return what must happen in the end."""
    return [LeadsTo("PutsEnd", partial(_waits, p), partial(_ended, p)) for p in model.writers]


def _waits(process: int, state: State) -> bool:
    return state.pc[process] in ("wait", "late")


def _ended(process: int, state: State) -> bool:
    held_up = any(q in (process, state.lock) or state.pc[q] in _MARKED for q in state.stopped)
    return held_up or state.pc[process] in ("idle", "dead")


def fairness(model: RingBias) -> list[Fair[State]]:
    """Return the assumptions: stores reach memory, and writers go on."""
    found = [Fair(f"stores of {p}", partial(_is, ("Flush",), p)) for p in model.writers]
    return [*found, *(Fair(f"writer {p}", partial(_is, _STEPS, p)) for p in model.writers)]


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param("process") == process
