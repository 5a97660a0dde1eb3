"""Readiness and health as FastDeploy has them: words in shared memory that each rank writes and pollers read.

The twin of ``tla/readiness/ReadinessShipped.tla``. One step is one read or write of a word, or something that happens
to a process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from models.kernel import Action, Model, each, once, replaced
from models.liveness import Fair, LeadsTo

__all__ = ("RACES", "Config", "Race", "ReadinessShipped", "State", "fairness", "launch_ends")

_Numbers = frozenset[int]
_NOBODY: _Numbers = frozenset()


class State(NamedTuple):
    """All variables of the spec."""

    word: tuple[int, ...]
    state: tuple[str, ...]
    beat: tuple[str, ...]
    late: tuple[bool, ...]
    launched: bool
    health: str
    accepted: bool


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped words work."""

    ranks: int = 2
    leftover: _Numbers = _NOBODY
    dies: _Numbers = _NOBODY
    hangs_up: _Numbers = _NOBODY
    busy: _Numbers = _NOBODY
    cross_wait: bool = False
    looks: str = "beats"
    checked: bool = True

    def constants(self) -> dict[str, int | bool | str | _Numbers]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "Leftover": self.leftover,
            "Dies": self.dies,
            "HangsUp": self.hangs_up,
            "Busy": self.busy,
            "CrossWait": self.cross_wait,
            "Looks": self.looks,
            "Checked": self.checked,
        }


class ReadinessShipped(Model[State]):
    """Next-state relation. Each method is one step, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "readiness as shipped"
        of_rank: dict[str, Callable[[State, int], State | None]] = {
            "Start": self.start,
            "Up": self.up,
            "Die": self.die,
            "HangUp": self.hang_up,
            "BeginLong": self.begin_long,
            "EndLong": self.end_long,
            "Beat": self.beat,
            "Silent": self.silent,
        }
        single = {"Launch": self.launch, "Check": self.check, "Accept": self.accept}
        self.actions = {
            **{name: partial(each, name, "r", range(self.config.ranks), step) for name, step in of_rank.items()},
            **{name: partial(once, name, step) for name, step in single.items()},
        }
        self.invariants = {"TypeOK": lambda s: set(s.word) <= {0, 1}}
        self.action_properties = {
            "LaunchedIsReady": lambda s, a, t: not _launches(s, t) or not {"new", "starting"} & set(s.state),
            "LaunchedIsAlive": lambda s, a, t: not _launches(s, t) or "dead" not in s.state,
            "GoodIsAlive": lambda s, a, t: not _answers(s, t, "good") or not _long(s, "dead"),
            "GoodIsMoving": lambda s, a, t: not _answers(s, t, "good") or not _long(s, "hung"),
            "BadIsBad": lambda s, a, t: not _answers(s, t, "bad") or bool({"dead", "hung"} & set(s.state)),
            "AcceptedIsServed": lambda s, a, t: s.accepted or not t.accepted or not _long(s, "dead"),
        }
        self.sometimes = {"a request was accepted": lambda s: s.accepted}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody has started."""
        n = self.config.ranks
        word = tuple(int(r in self.config.leftover) for r in range(n))
        return (State(word, ("new",) * n, ("zero",) * n, (False,) * n, False, "none", False),)

    def start(self, s: State, r: int) -> State | None:
        """A process starts, and lowers its word."""
        return _to(s, r, "starting", word=replaced(s.word, r, 0)) if s.state[r] == "new" else None

    def up(self, s: State, r: int) -> State | None:
        """It is ready, and raises its word."""
        may = not self.config.cross_wait or (s.state[1] == "up" if r == 0 else s.word[0] == 1)
        return _to(s, r, "up", word=replaced(s.word, r, 1)) if s.state[r] == "starting" and may else None

    def die(self, s: State, r: int) -> State | None:
        """It is killed; its words stay."""
        return _to(s, r, "dead") if r in self.config.dies and s.state[r] != "dead" else None

    def hang_up(self, s: State, r: int) -> State | None:
        """Its loop stands still."""
        return _to(s, r, "hung") if r in self.config.hangs_up and s.state[r] == "up" else None

    def begin_long(self, s: State, r: int) -> State | None:
        """It loads weights, say."""
        return _to(s, r, "busy") if r in self.config.busy and s.state[r] == "up" else None

    def end_long(self, s: State, r: int) -> State | None:
        """It goes on."""
        return _to(s, r, "up") if s.state[r] == "busy" else None

    def beat(self, s: State, r: int) -> State | None:
        """Its loop comes round."""
        if s.state[r] != "up" or s.beat[r] == "fresh":
            return None
        return s._replace(beat=replaced(s.beat, r, "fresh"), late=replaced(s.late, r, False))

    def silent(self, s: State, r: int) -> State | None:
        """The limit passes."""
        if s.state[r] not in ("busy", "hung", "dead") or s.late[r]:
            return None
        old = "zero" if s.beat[r] == "zero" else "old"
        return s._replace(beat=replaced(s.beat, r, old), late=replaced(s.late, r, True))

    def launch(self, s: State) -> State | None:
        """The launcher sees the sum that it wants."""
        return s._replace(launched=True) if not s.launched and sum(s.word) == self.config.ranks else None

    def _seems(self, s: State) -> str:
        looks = self.config.looks
        bad = (looks == "beats" and s.beat[0] == "old") or (looks == "exits" and "dead" in s.state)
        return "bad" if bad else "good"

    def check(self, s: State) -> State | None:
        """The health check answers."""
        return s._replace(health=self._seems(s)) if s.launched and self._seems(s) != s.health else None

    def accept(self, s: State) -> State | None:
        """The API server accepts a request."""
        refuses = self.config.checked and self._seems(s) != "good"
        return s._replace(accepted=True) if s.launched and not s.accepted and not refuses else None


def _to(s: State, r: int, state: str, word: tuple[int, ...] | None = None) -> State:
    return s._replace(state=replaced(s.state, r, state), word=s.word if word is None else word)


def _launches(s: State, t: State) -> bool:
    return t.launched and not s.launched


def _answers(s: State, t: State, what: str) -> bool:
    return s.health != t.health == what


def _long(s: State, what: str) -> bool:
    return any(state == what and late for state, late in zip(s.state, s.late, strict=True))


def _is(name: str, r: int) -> Callable[[State, Action], bool]:
    return lambda s, a: a.name == name and a.param("r") in (None, r)


def fairness(config: Config) -> list[Fair[State]]:
    """Whoever can start or come up does, and the launcher looks."""
    names = ("Start", "Up", "Launch")
    return [Fair(f"{name}({r})", _is(name, r)) for name in names for r in range(config.ranks)]


launch_ends: LeadsTo[State] = LeadsTo("LaunchEnds", lambda s: not s.launched, lambda s: s.launched)


@dataclass(frozen=True)
class Race:
    """An environment in which a race shows, and the property that fails."""

    config: Config
    violates: str

    @property
    def liveness(self) -> bool:
        """Return True when what fails is that the launch ends."""
        return self.violates == "LaunchEnds"


_R = frozenset[int]

RACES: dict[str, Race] = {
    "P2.1": Race(Config(ranks=1, busy=_R({0})), "BadIsBad"),
    "P2.2": Race(Config(dies=_R({1})), "GoodIsAlive"),
    "P2.3": Race(Config(ranks=1, dies=_R({0})), "GoodIsAlive"),
    "P15.1": Race(Config(leftover=_R({1})), "LaunchedIsReady"),
    "P15.2": Race(Config(dies=_R({1})), "LaunchedIsAlive"),
    "P15.3": Race(Config(dies=_R({0})), "LaunchEnds"),
    "B53": Race(Config(cross_wait=True), "LaunchEnds"),
    "B84": Race(Config(ranks=1, dies=_R({0}), looks="messages"), "GoodIsAlive"),
    "B85": Race(Config(ranks=1, hangs_up=_R({0}), looks="exits"), "GoodIsMoving"),
    "B87": Race(Config(ranks=1, dies=_R({0}), checked=False), "AcceptedIsServed"),
}
