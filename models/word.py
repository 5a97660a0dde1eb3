"""Setting a shared word and waiting for it, one load or store at a time: twin of ``tla/word/Word.tla``.

Each process has a store buffer, as x86-64 processors have: its stores reach memory later, in their order, and its own
loads see them at once. Processes are numbers: setters 0 .. S-1, waiters S .. S+W-1, and last the one that supersedes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from models.kernel import Action, Model, Step, each, replaced
from models.store_buffers import at
from models.word_properties import fairness, liveness
from models.word_state import ENDS, NOBODY, WORDS, Config, Guards, State, load, put

__all__ = ("Config", "Guards", "State", "Word", "fairness", "liveness")


class Word(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = config.guards.title("word")
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
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
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

    # -- setting -------------------------------------------------------------------------------------------------

    def store_value(self, s: State, p: int) -> State | None:
        """The value is on its way to memory."""
        if s.counts[p] == self.config.sets:
            return None
        after = at(s, p, "idle", "look")
        return after and put(after, p, "value", s.counts[p] + 1)._replace(counts=replaced(s.counts, p, s.counts[p] + 1))

    def load_waiters(self, s: State, p: int) -> State | None:
        """Nobody waits: the set is over. This is all that a set does then."""
        ring = "token" if self.guards.FreshTokens else "count"
        return at(s, p, "look", ring if load(s, p, "waiters") else "idle")

    def load_token(self, s: State, p: int) -> State | None:
        """Without FreshTokens the wake word is a counter, which has to be read first."""
        after = at(s, p, "count", "token")
        return after and after._replace(seen=replaced(s.seen, p, load(s, p, "wake") + 1))

    def store_gone(self, s: State, p: int) -> State | None:
        """The segment is replaced or unlinked."""
        after = at(s, p, "idle", "token")
        return after and put(after, p, "gone", 1)

    def store_token(self, s: State, p: int) -> State | None:
        """The wake word changes: who goes to sleep on the old one does not."""
        after = at(s, p, "token", "wake")
        if after is None:
            return None
        if self.guards.FreshTokens or p == self.closer:
            return put(after, p, "wake", s.tokens + 1)._replace(tokens=s.tokens + 1)
        return put(after, p, "wake", s.seen[p])._replace(seen=replaced(s.seen, p, 0))

    def wake(self, s: State, p: int) -> State | None:
        """The system call: a full barrier, and whoever sleeps is woken. If nobody did, the flag may be out of date."""
        on = "over" if p == self.closer else "idle" if "asleep" in s.pc else "try"
        after = at(s, p, "wake", on)
        if after is None or s.buf[p]:
            return None
        return after._replace(pc=tuple("token" if pc == "asleep" else pc for pc in after.pc))

    def try_clear(self, s: State, p: int) -> State | None:
        """The kernel gives the waiters' lock exclusively only when nobody has it: then nobody waits."""
        free = s.keeper == NOBODY and not s.sharers
        if not self.guards.ClearsLocked:
            return at(s, p, "try", "clear")
        after = at(s, p, "try", "clear" if free else "idle")
        return after and after._replace(keeper=p if free else s.keeper)

    def clear_flag(self, s: State, p: int) -> State | None:
        """Nobody waits."""
        after = next((after for end in ENDS if (after := at(s, p, f"clear{end}", f"unlock{end}"))), None)
        return after and put(after, p, "waiters", 0)

    def unlock(self, s: State, p: int) -> State | None:
        """A system call: a full barrier. The call, or the wait, is over."""
        after = next((after for end in ENDS if (after := at(s, p, f"unlock{end}", end.strip(": ") or "idle"))), None)
        if after is None or s.buf[p]:
            return None
        return after._replace(sharers=s.sharers - {p}, keeper=NOBODY if s.keeper == p else s.keeper)

    # -- waiting -------------------------------------------------------------------------------------------------

    def peek(self, s: State, p: int) -> State | None:
        """The value, before anything else."""
        return at(s, p, "peek", "done" if self._satisfied(s, p) else "enter")

    def enter(self, s: State, p: int) -> State | None:
        """The waiters' lock, shared: as long as a waiter has it, nobody clears the flag."""
        after = at(s, p, "enter", "announce") if s.keeper == NOBODY else None
        return after and after._replace(sharers=s.sharers | {p})

    def announce(self, s: State, p: int) -> State | None:
        """The flag is raised: the same store for every waiter."""
        first = "token" if self.guards.TokenFirst else "value"
        after = at(s, p, "announce", "barrier" if self.guards.Barrier else first)
        return after and put(after, p, "waiters", 1)

    def barrier_reaches(self, s: State) -> Iterator[Step[State]]:
        """The waiter's barrier has run on the processor of a setter: nothing is in its store buffer."""
        for p in self.waiters:
            for setter in self.setters:
                if s.pc[p] == "barrier" and not s.buf[p] and not s.buf[setter] and setter not in s.barred[p]:
                    barred = replaced(s.barred, p, s.barred[p] | {setter})
                    yield Action("BarrierReaches", (("process", p), ("setter", setter))), s._replace(barred=barred)

    def barrier_ends(self, s: State, p: int) -> State | None:
        """It has run everywhere."""
        if s.barred[p] != frozenset(self.setters):
            return None
        after = at(s, p, "barrier", "token" if self.guards.TokenFirst else "value")
        return after and after._replace(barred=replaced(s.barred, p, frozenset()))

    def see_token(self, s: State, p: int) -> State | None:
        """The wake word, before the value."""
        if p not in self.waiters:
            return None
        after = at(s, p, "token", "value" if self.guards.TokenFirst else "gone")
        return after and after._replace(seen=replaced(s.seen, p, load(s, p, "wake")))

    def see_value(self, s: State, p: int) -> State | None:
        """The value: the wait may be over."""
        on = "gone" if self.guards.TokenFirst else "token"
        after = at(s, p, "value", "leave: done" if self._satisfied(s, p) else on)
        return after and self._forget(after, p)

    def see_gone(self, s: State, p: int) -> State | None:
        """The segment's end: the wait may be over too."""
        after = at(s, p, "gone", "leave: replaced" if load(s, p, "gone") else "sleep")
        return after and self._forget(after, p)

    def sleep(self, s: State, p: int) -> State | None:
        """The system call: a full barrier; it sleeps if the wake word is still the one that was seen."""
        first = "token" if self.guards.TokenFirst else "value"
        after = at(s, p, "sleep", "asleep" if s.mem[2] == s.seen[p] else first)
        return None if after is None or s.buf[p] else self._forget(after, p)

    def rouse(self, s: State, p: int) -> State | None:
        """The wait ends without a reason, or its bounded interval is over."""
        first = "token" if self.guards.TokenFirst else "value"
        return at(s, p, "asleep", first) if self.config.spurious or self.guards.Rechecks else None

    def give_up(self, s: State, p: int) -> State | None:
        """The time limit of the wait is over, after a last look."""
        after = at(s, p, "sleep", "leave: late") if self.config.limited else None
        return after and self._forget(after, p)

    def leave(self, s: State, p: int) -> State | None:
        """The last waiter lowers the flag, for which it needs the lock exclusively; any other one just goes."""
        what, _, end = s.pc[p].partition(": ")
        if what != "leave" or s.buf[p]:
            return None
        if s.sharers != {p}:
            return s._replace(pc=replaced(s.pc, p, f"unlock: {end}"))
        return s._replace(pc=replaced(s.pc, p, f"clear: {end}"), sharers=s.sharers - {p}, keeper=p)

    # -- the environment -----------------------------------------------------------------------------------------

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL. What is in the store buffer still reaches memory."""
        if not s.alive[p]:
            return None
        nothing: frozenset[int] = frozenset()
        return s._replace(
            alive=replaced(s.alive, p, False),
            pc=replaced(s.pc, p, "dead"),
            seen=replaced(s.seen, p, 0),
            barred=replaced(s.barred, p, nothing),
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
        return s._replace(mem=replaced(s.mem, WORDS.index(word), value), buf=replaced(s.buf, p, tuple(rest)))

    def _satisfied(self, s: State, p: int) -> bool:
        return load(s, p, "value") == self.config.sets

    def _forget(self, s: State, p: int) -> State:
        """A token that is not used any more is no part of the state."""
        return s if s.pc[p] in ("value", "gone", "sleep") else s._replace(seen=replaced(s.seen, p, 0))

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
