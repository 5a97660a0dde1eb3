"""Control requests as FastDeploy makes them: in the list of batches, answered into a pipe of each rank.

The twin of ``tla/control/ControlShipped.tla``. One step is one call on a shared object, or one assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from models.kernel import Model, each, once, replaced

__all__ = ("RACES", "Config", "ControlShipped", "Race", "State")

NOTHING = -1


class State(NamedTuple):
    """All variables of the spec."""

    engine: str
    paused: bool
    asked: int
    told: str
    heard: frozenset[int]
    got: frozenset[int]
    late: bool
    slot: tuple[int, ...]
    work: int
    pipe: tuple[tuple[int, ...], ...]
    pc: tuple[str, ...]
    doing: tuple[int, ...]
    raised: frozenset[int]
    fewer: bool
    slipped: bool
    split: bool


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped steps work."""

    ranks: int = 2
    max_asked: int = 2
    max_work: int = 0
    impatient: bool = False
    failing: bool = False
    raisers: frozenset[int] = frozenset()

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "MaxAsked": self.max_asked,
            "MaxWork": self.max_work,
            "Impatient": self.impatient,
            "Failing": self.failing,
            "Raisers": self.raisers,
        }


class ControlShipped(Model[State]):
    """Next-state relation. Each method is one step of the engine, or of one rank; None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "control as shipped"
        engine: dict[str, Callable[[State], State | None]] = {
            "Mark": self.mark,
            "Abort": self.abort,
            "AbortFails": self.abort_fails,
            "Look": self.look,
            "Put": self.put,
            "PutWork": self.put_work,
            "Return": self.return_,
            "Pass": self.pass_,
        }
        ranks: dict[str, Callable[[State, int], State | None]] = {
            "Read": self.read,
            "GiveUp": self.give_up,
            "Take": self.take,
            "Respond": self.respond,
            "Raise": self.raise_,
            "Arrive": self.arrive,
        }
        self.actions = {
            **{name: partial(once, name, step) for name, step in engine.items()},
            **{name: partial(each, name, "rank", range(self.config.ranks), step) for name, step in ranks.items()},
        }
        self.invariants = {
            "SuccessIsWhole": lambda s: not s.fewer,
            "NothingSlips": lambda s: not s.slipped,
            "PausedAsTold": lambda s: not (s.engine == "idle" and s.told == "error" and s.paused),
            "SameRequest": lambda s: not s.split,
        }
        self.action_properties = {}
        most = self.config.max_asked
        self.sometimes = {"every request has returned": lambda s: s.asked == most and s.engine == "idle"}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was asked."""
        n, nobody = self.config.ranks, frozenset[int]()
        ranks = ((NOTHING,) * n, 0, ((),) * n, ("loop",) * n, (0,) * n, nobody)
        return (State("idle", False, 0, "nothing", nobody, nobody, False, *ranks, False, False, False),)

    # -- the engine ----------------------------------------------------------------------------------------------

    def mark(self, s: State) -> State | None:
        """It marks itself paused."""
        begins = s.engine == "idle" and s.asked < self.config.max_asked
        return s._replace(engine="paused", paused=True) if begins else None

    def abort(self, s: State) -> State | None:
        """It aborts what runs."""
        return s._replace(engine="aborted") if s.engine == "paused" else None

    def abort_fails(self, s: State) -> State | None:
        """The abort raises."""
        fails = self.config.failing and s.engine == "paused"
        return s._replace(engine="idle", told="error") if fails else None

    def look(self, s: State) -> State | None:
        """It sees that no batch is left."""
        return s._replace(engine="quiet") if s.engine == "aborted" and _all_read(s) else None

    def put(self, s: State) -> State | None:
        """It puts the request."""
        if s.engine != "quiet" or not _all_read(s):
            return None
        return s._replace(engine="gather", asked=s.asked + 1, slot=(s.asked + 1,) * self.config.ranks)

    def put_work(self, s: State) -> State | None:
        """Another thread puts a batch."""
        if s.work >= self.config.max_work or not _all_read(s):
            return None
        slipped = s.slipped or s.engine == "quiet"
        return s._replace(work=s.work + 1, slot=(0,) * self.config.ranks, slipped=slipped)

    def read(self, s: State, r: int) -> State | None:
        """It reads one message; what is not about this request is ignored."""
        if s.engine != "gather" or r in s.heard or not s.pipe[r]:
            return None
        got = s.got | {r} if s.pipe[r][0] == s.asked else s.got
        return s._replace(heard=s.heard | {r}, got=got, pipe=replaced(s.pipe, r, s.pipe[r][1:]))

    def give_up(self, s: State, r: int) -> State | None:
        """It stops waiting for a rank."""
        if not self.config.impatient or s.engine != "gather" or r in s.heard or s.pipe[r]:
            return None
        return s._replace(heard=s.heard | {r}, late=True)

    def return_(self, s: State) -> State | None:
        """It tells its caller."""
        if s.engine != "gather" or len(s.heard) < self.config.ranks:
            return None
        nobody = frozenset[int]()
        return s._replace(
            engine="idle",
            told="error" if s.late else "ok",
            fewer=s.fewer or (not s.late and len(s.got) < self.config.ranks),
            heard=nobody,
            got=nobody,
            late=False,
        )

    # -- the ranks -----------------------------------------------------------------------------------------------

    def take(self, s: State, r: int) -> State | None:
        """A rank reads what was put: it runs a batch, or begins a request."""
        if s.pc[r] != "loop" or s.slot[r] == NOTHING:
            return None
        after = s._replace(slot=replaced(s.slot, r, NOTHING))
        return (
            after._replace(pc=replaced(s.pc, r, "run"), doing=replaced(s.doing, r, s.slot[r])) if s.slot[r] else after
        )

    def respond(self, s: State, r: int) -> State | None:
        """A rank answers."""
        if s.pc[r] != "run":
            return None
        return s._replace(pipe=replaced(s.pipe, r, (*s.pipe[r], s.doing[r])), pc=replaced(s.pc, r, "answered"))

    def raise_(self, s: State, r: int) -> State | None:
        """A rank raises where nobody catches it but its loop."""
        if r not in self.config.raisers - s.raised or s.pc[r] != "answered":
            return None
        return s._replace(raised=s.raised | {r}, pc=replaced(s.pc, r, "loop"))

    def arrive(self, s: State, r: int) -> State | None:
        """A rank comes to the barrier."""
        return s._replace(pc=replaced(s.pc, r, "barrier")) if s.pc[r] == "answered" else None

    def pass_(self, s: State) -> State | None:
        """All have come."""
        if set(s.pc) != {"barrier"}:
            return None
        return s._replace(pc=("loop",) * self.config.ranks, split=s.split or len(set(s.doing)) > 1)


def _all_read(s: State) -> bool:
    return all(item == NOTHING for item in s.slot)


@dataclass(frozen=True)
class Race:
    """An environment in which a race shows, and the property that fails."""

    config: Config
    violates: str


RACES: dict[str, Race] = {
    "P14.1": Race(Config(ranks=1, impatient=True), "SuccessIsWhole"),
    "P14.2": Race(Config(max_asked=1, max_work=1), "NothingSlips"),
    "P14.4": Race(Config(max_asked=1, failing=True), "PausedAsTold"),
    "P14.5": Race(Config(raisers=frozenset({0})), "SameRequest"),
}
