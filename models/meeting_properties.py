"""What is claimed of ``models/meeting.py``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.meeting_state import Config, Guards, State, gen

if TYPE_CHECKING:
    from models.meeting import Meeting

__all__ = ("Claims", "fairness", "liveness")


class Claims:
    """The invariants, and who stands for whom."""

    config: Config
    guards: Guards
    ranks: range
    everybody: range
    owner: int
    second: int

    def claims(self) -> dict[str, Callable[[State], bool]]:
        """Return them under the names of the contract."""
        return {
            "PassNeedsAll": self.pass_needs_all,
            "OneFate": self.one_fate,
            "OneEach": self.one_each,
            "Reasons": self.reasons,
            "OwnAbort": self.own_abort,
            "Counts": self.counts,
            "NoLostWakeUp": self.no_lost_wake_up,
        }

    def rank_of(self, p: int) -> int:
        """The rank of a process."""
        return 0 if p == self.second else p

    def place(self, label: int) -> int:
        """At which barrier a wait is that is for this."""
        return label // self.config.labels

    def line(self, p: int) -> int:
        """Where a process stores."""
        return p if self.guards.OwnLine else self.rank_of(p)

    def counted(self, life: int, rank: int) -> int:
        """Who stands for a rank."""
        return self.second if rank == 0 and life >= 2 else rank

    def pass_needs_all(self, s: State) -> bool:
        """A round that was passed had all ranks in it, at one barrier, with one label."""
        turns = {turn for told in s.told for turn, what in told if what == "passed"}
        came = {(self.rank_of(p), *arrival) for p in self.everybody if p != self.owner for arrival in s.came[p]}
        labels = range(self.config.labels * self.config.places)
        return all(any(all((r, turn, label) in came for r in self.ranks) for label in labels) for turn in turns)

    def one_fate(self, s: State) -> bool:
        """A round is passed once. Who arrived in one turn is told one thing, but who gives up; then nobody passes."""
        fates: dict[int, set[str]] = {}
        for told in s.told:
            for turn, what in told:
                if what != "refused":
                    fates.setdefault(turn // 4, set()).add(what)
        passed = {turn for told in s.told for turn, what in told if what == "passed"}
        if len(passed) != len({gen(turn) for turn in passed}):
            return False
        return all(len(ends) == 1 or ("passed" not in ends and len(ends - {"timeout"}) == 1) for ends in fates.values())

    def one_each(self, s: State) -> bool:
        """One process of a rank passes."""
        if not self.config.comes:
            return True
        return all(what != "passed" for _, what in s.told[0] & s.told[self.second])

    def reasons(self, s: State) -> bool:
        """There is always a reason that can be said."""
        return all(what != "none" for told in s.told for _, what in told)

    def own_abort(self, s: State) -> bool:
        """Only waits at the barrier that was aborted end by that."""
        return all(
            any(turn // 4 == end // 4 and not self.place(label) for turn, label in s.came[p])
            for p in self.everybody
            for end, what in s.told[p]
            if what == "broken"
        )

    def counts(self, s: State) -> bool:
        """The counts are right as soon as the turn says so, and each pass is counted where it was."""
        places = self.config.places
        if places == 1:
            return True
        turn = s.mem.turn[0]
        bank = places * (gen(turn) % 2 if self.guards.TwoBanks else 0)
        found = s.mem.passes[bank : bank + places]
        ends = {turn for told in s.told for turn, what in told if what == "passed"}
        where = {turn: {self.place(label) for came in s.came for at, label in came if at == turn} for turn in ends}
        passes = [next(iter(at)) for at in where.values() if len(at) == 1]  # nobody has given up elsewhere in it
        return sum(found) == gen(turn) and all(found[place] >= passes.count(place) for place in range(places))

    def all_here(self, s: State, turn: int) -> bool:
        """Everybody who is counted has arrived in a turn, and has not given up."""
        standing = (self.counted(life, r) for r, life in enumerate(s.mem.life))
        return all(turn in dict(s.came[q]) and (turn, "timeout") not in s.told[q] for q in standing)

    def no_lost_wake_up(self, s: State) -> bool:
        """When nothing can go on, nobody sleeps whose wait is over, or who could end it."""
        if any(s.buf) or any(pc not in ("out", "away", "ask", "done", "asleep") for pc in s.pc):
            return True
        asleep = [s.stamp[p] for p in self.everybody if s.pc[p] == "asleep"]
        return all(s.mem.turn[0] == turn and not self.all_here(s, turn) for turn in asleep)

    def over(self, p: int, s: State) -> bool:
        """A sleeper's wait has a reason to end."""
        if s.pc[p] != "asleep":
            return False
        dead = any(life % 2 or not s.alive[self.counted(life, r)] for r, life in enumerate(s.mem.life))
        return dead or s.mem.turn[0] != s.stamp[p] or self.all_here(s, s.stamp[p])


def liveness(model: Meeting) -> list[LeadsTo[State]]:
    """Return what must happen in the end, whoever is killed."""
    return [
        LeadsTo("WaitEnds", partial(model.over, p), partial(lambda p, s: s.pc[p] in ("out", "dead"), p))
        for p in model.waiters
    ]


_ENVIRONMENT = ("Flush", "Rouse", "Kill", "Timeout", "Begin", "AskAbort", "AskPart", "AskFence", "AskReset", "Come")


def fairness(model: Meeting) -> list[Fair[State]]:
    """Return the assumptions: processes go on, stores arrive, a bounded sleep ends, a lock is not always taken."""
    found: list[Fair[State]] = []
    names = tuple(name for name in model.actions if name not in _ENVIRONMENT)
    for p in model.everybody:
        found += [Fair(f"Flush {p}", partial(_is, ("Flush",), p)), Fair(f"process {p}", partial(_is, names, p))]
        found.append(Fair(f"TakeLock {p}", partial(_is, ("TakeLock",), p), strong=True))
        if p in model.waiters and model.guards.Rechecks:
            found.append(Fair(f"Rouse {p}", partial(_is, ("Rouse",), p)))
    return found


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> Any:
    del state
    return action.name in names and action.param("process") == process
