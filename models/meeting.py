"""Ranks of one machine meet in shared memory, one load or store at a time: twin of ``tla/meeting/Meeting.tla``.

Processes are numbers: ranks 0 .. N-1, N who is no rank and aborts (or undoes that) or gives rank 0 up, N+1 who comes
for rank 0 then. Barriers that are used in turn share all words; what a wait is for is place * labels + label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from models.kernel import Action, Model, each
from models.meeting_decide import Deciding
from models.meeting_state import Config, Mem, State, count, ended, gen
from models.store_buffers import flush, load, moved, put

__all__ = ("Meeting",)


class Meeting(Deciding, Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.guards = config.guards
        self.name = config.guards.title("meeting")
        self.ranks = range(config.ranks)
        self.owner, self.second = config.ranks, config.ranks + 1
        asks = config.aborts or config.fences or config.parts
        last = self.second if config.comes else self.owner if asks else config.ranks - 1
        self.everybody = everybody = range(last + 1)
        self.waiters = waiters = [*self.ranks, *([self.second] if config.comes else [])]
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "SeeLife": (waiters, self.see_life),
            "StoreLabel": (waiters, self.store_label),
            "StoreWord": (waiters, self.store_word),
            "Scan": (waiters, partial(self.scan, "scan", "lock", "see")),
            "SeeTurn": (waiters, self.see_turn),
            "SeeStanding": (waiters, self.see_standing),
            "SeeWhy": (waiters, self.see_why),
            "SeeNext": (waiters, self.see_next),
            "Timeout": (sorted(config.timed), self.timeout),
            "RaiseFlag": (waiters, self.raise_flag),
            "BarrierReaches": (waiters, self.barrier_reaches),
            "SeeDue": (waiters, self.see_due),
            "Rescan": (waiters, partial(self.scan, "rescan", "down", "sleep")),
            "Sleep": (waiters, self.sleep),
            "Rouse": (waiters, self.rouse),
            "SeeAgain": (waiters, self.see_again),
            "SeeDead": (waiters, self.see_dead),
            "LowerFlag": (waiters, self.lower_flag),
            "TakeLock": (everybody, self.take_lock),
            "SeeTurnLocked": (everybody, self.see_turn_locked),
            "LookLocked": (everybody, self.look_locked),
            "StoreWithdrawn": (everybody, self.store_withdrawn),
            "StoreLife": (everybody, self.store_life),
            "StoreCount": (everybody, self.store_count),
            "StoreWhy": (everybody, self.store_why),
            "StoreTurn": (everybody, self.store_turn),
            "LoadFlags": (everybody, self.load_flags),
            "Wake": (everybody, self.wake),
            "GiveLock": (everybody, self.give_lock),
            "Flush": (everybody, flush),
            "Kill": ([p for p in sorted(config.mortal) if p in everybody], self.kill),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.actions |= {"Begin": self.begin, "AskAbort": self.ask_abort, "AskFence": self.ask_fence, "Come": self.come}
        self.actions |= {"AskReset": self.ask_reset, "AskPart": self.ask_part}
        self.invariants = self.claims()
        self.action_properties = {}
        self.sometimes = {
            "somebody sleeps": lambda s: "asleep" in s.pc,
            "a round was passed": lambda s: any(end[1] == "passed" for told in s.told for end in told),
        }
        if config.ranks == 1:
            del self.sometimes["somebody sleeps"]
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody waits."""
        size, zeros = len(self.everybody), (0,) * len(self.everybody)
        yield State(
            mem=Mem(
                (0,), (-1,) * size, zeros, zeros, (0,) * self.config.ranks, ("none",) * 4, (0,) * 2 * self.config.places
            ),
            buf=((),) * size,
            pc=tuple("out" if p in self.ranks else "ask" if p == self.owner else "away" for p in self.everybody),
            at=zeros,
            stamp=zeros,
            label=zeros,
            do=("none",) * size,
            lock=-1,
            calls=zeros,
            came=(frozenset(),) * size,
            told=(frozenset(),) * size,
            alive=(True,) * size,
        )

    # -- arriving ------------------------------------------------------------------------------------------------------

    def begin(self, s: State) -> Iterator[tuple[Action, State]]:
        """The turn is loaded. A meeting that is not open refuses at once."""
        for p in self.waiters:
            if p in self.config.absent or s.pc[p] != "out" or s.calls[p] >= self.config.calls:
                continue
            turn = load(s, p, "turn", 0)
            for label in range(self.config.labels * self.config.places):
                action = Action("Begin", (("label", label), ("process", p)))
                calls = s.calls[p] + 1
                if turn % 2 == 0 and (turn % 4 < 2 or self.place(label)):
                    there = "life?" if self.guards.ChecksLife else "label"
                    yield action, moved(s, p, there, calls=calls, stamp=turn, label=label)
                elif label == 0:
                    yield action, moved(s, p, "out", calls=calls, told=s.told[p] | {(turn, "refused")})

    def see_life(self, s: State, p: int) -> State | None:
        """Who was given up is refused."""
        if s.pc[p] != "life?":
            return None
        return moved(s, p, "label") if self._stands(s, p) else self._tell(s, p, "out", "refused")

    def store_label(self, s: State, p: int) -> State | None:
        """What the wait is for, before the arrival."""
        return put(moved(s, p, "word"), p, "label", self.line(p), s.label[p]) if s.pc[p] == "label" else None

    def store_word(self, s: State, p: int) -> State | None:
        """The arrival."""
        if s.pc[p] != "word":
            return None
        stamp = s.stamp[p]
        told = s.told[p] - {(stamp, "timeout")}
        after = moved(s, p, "scan", came=s.came[p] | {(stamp, s.label[p])}, told=told)
        return put(after, p, "word", self.line(p), stamp)

    def scan(self, at: str, here: str, there: str, s: State, p: int) -> State | None:
        """One rank after the other."""
        if s.pc[p] != at:
            return None
        found = self._look(s, p)
        if found == "more":
            return moved(s, p, at, at=self._further(s, p))
        if found == "missing":
            return moved(s, p, there, at=0)
        return moved(s, p, here, at=0, do="pass")

    # -- waiting -------------------------------------------------------------------------------------------------------

    def see_turn(self, s: State, p: int) -> State | None:
        """Whether the wait is over."""
        if s.pc[p] != "see":
            return None
        turn = load(s, p, "turn", 0)
        if turn == s.stamp[p]:
            return moved(s, p, "wait")
        if gen(turn) == gen(s.stamp[p]):
            return moved(s, p, "why")
        return moved(s, p, "mine") if self.guards.ChecksLife else self._tell(s, p, "out", "passed")

    def see_standing(self, s: State, p: int) -> State | None:
        """Who was given up may not have been in the round that the others have passed."""
        if s.pc[p] != "mine":
            return None
        return self._tell(s, p, "out", "passed" if self._stands(s, p) else "refused")

    def _stands(self, s: State, p: int) -> bool:
        return bool(load(s, p, "life", self.rank_of(p)) == (2 if p == self.second else 0))

    def see_why(self, s: State, p: int) -> State | None:
        """It ended without a pass. If that was about another barrier, this wait goes on."""
        if s.pc[p] != "why":
            return None
        why = str(load(s, p, "why", count(s.stamp[p]) + 1))
        if why == "reset" or (why == "broken" and self.place(s.label[p]) and self.guards.GoesOn):
            return moved(s, p, "then", stamp=ended(s.stamp[p], 0))
        return self._tell(s, p, "out", why)

    def see_next(self, s: State, p: int) -> State | None:
        """It arrives in the turn that there is now, if no other ending came in between."""
        if s.pc[p] != "then":
            return None
        turn, stamp = load(s, p, "turn", 0), s.stamp[p]
        if turn // 4 == stamp // 4:
            return moved(s, p, "life?" if self.guards.ChecksLife else "label", stamp=turn)
        return moved(s, p, "why" if gen(turn) == gen(stamp) else "mine")

    def timeout(self, s: State, p: int) -> State | None:
        """Its time is over."""
        if s.pc[p] != "wait":
            return None
        return moved(s, p, "lock" if self.guards.WithdrawsLocked else "turn", do="withdraw")

    def raise_flag(self, s: State, p: int) -> State | None:
        """From now on, who decides wakes."""
        if s.pc[p] != "wait":
            return None
        return put(moved(s, p, "barrier" if self.guards.Barrier else "due"), p, "flag", p, 1)

    def barrier_reaches(self, s: State, p: int) -> State | None:
        """The barrier has run on the processor of the next process."""
        if s.pc[p] != "barrier" or s.buf[p] or s.buf[s.at[p]]:
            return None
        more = s.at[p] < len(self.everybody) - 1
        return moved(s, p, "barrier" if more else "due", at=s.at[p] + 1 if more else 0)

    def see_due(self, s: State, p: int) -> State | None:
        """The look that decides."""
        if s.pc[p] != "due":
            return None
        return moved(s, p, "rescan" if load(s, p, "turn", 0) == s.stamp[p] else "down")

    def sleep(self, s: State, p: int) -> State | None:
        """The turn is the futex word."""
        if s.pc[p] != "sleep" or s.buf[p]:
            return None
        return moved(s, p, "asleep" if s.mem.turn[0] == s.stamp[p] else "again")

    def rouse(self, s: State, p: int) -> State | None:
        """The sleep ends without a reason, or its interval is over."""
        awake = s.pc[p] == "asleep" and (self.config.spurious or self.guards.Rechecks)
        return moved(s, p, "again") if awake else None

    def see_again(self, s: State, p: int) -> State | None:
        """Whether it was woken for a reason."""
        if s.pc[p] != "again":
            return None
        return moved(s, p, "miss" if load(s, p, "turn", 0) == s.stamp[p] else "down")

    def see_dead(self, s: State, p: int) -> State | None:
        """Whether somebody is dead."""
        if s.pc[p] != "miss":
            return None
        return moved(s, p, "down", do="fence" if any(self.gone(s, r) for r in self.ranks) else s.do[p])

    def lower_flag(self, s: State, p: int) -> State | None:
        """Awake."""
        if s.pc[p] != "down":
            return None
        return put(moved(s, p, "see" if s.do[p] == "none" else "lock"), p, "flag", p, 0)

    # -- the environment -----------------------------------------------------------------------------------------------

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL. What is in the store buffer still reaches memory; the kernel gives the lock back."""
        if not s.alive[p] or s.pc[p] in ("away", "ask", "done") or (s.buf[p] and s.lock == p):
            return None
        return moved(s, p, "dead", alive=False, at=0, do="none")._replace(lock=-1 if s.lock == p else s.lock)
