"""What callers of a clear are told by a word alone. The twin of ``tla/status/CallsShipped.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Model, each, once, replaced
from models.liveness import Fair, LeadsTo
from models.shipped_race import Race

__all__ = ("PROMISE", "RACES", "CallsShipped", "Config", "State", "fairness")

NORMAL, UPDATING, CLEARING, CLEARED = 0, 1, -1, -2
BEGUN = {NORMAL: CLEARING, CLEARED: UPDATING}
END = {CLEARING: CLEARED, UPDATING: NORMAL}
_NOBODY: frozenset[int] = frozenset()


class State(NamedTuple):
    """All variables of the spec."""

    word: int
    asked: int
    waits: tuple[str, ...]
    goal: tuple[int, ...]
    todo: frozenset[int]
    doing: tuple[int, ...]
    flag: tuple[int, ...]
    failed: frozenset[int]


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the published steps work."""

    callers: int = 2
    ranks: int = 2
    max_asked: int = 2
    failing: frozenset[int] = frozenset({1})
    impatient: bool = True
    serialised: bool = True
    tells_failures: bool = True
    keyed: bool = True

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "Callers": self.callers,
            "N": self.ranks,
            "MaxAsked": self.max_asked,
            "Failing": self.failing,
            "Impatient": self.impatient,
            "Serialised": self.serialised,
            "TellsFailures": self.tells_failures,
            "Keyed": self.keyed,
        }


class CallsShipped(Model[State]):
    """Next-state relation. Each method is one step, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "calls as published"
        of_caller: dict[str, Callable[[State, int], State | None]] = {
            "Ask": self.ask,
            "See": self.see,
            "GiveUp": self.give_up,
        }
        of_rank: dict[str, Callable[[State, int], State | None]] = {
            "Take": self.take,
            "Finish": self.finish,
            "Fail": self.fail,
        }
        self.actions = {name: partial(each, name, "c", range(config.callers), do) for name, do in of_caller.items()}
        self.actions |= {name: partial(each, name, "r", range(config.ranks), do) for name, do in of_rank.items()}
        self.actions |= {"Settle": partial(once, "Settle", self.settle)}
        self.invariants = {
            "WaitsForWhatComes": _waits_for_what_comes,
            "FailureIsTold": lambda s: not s.failed or "waits" not in s.waits,
            "DoneByAll": lambda s: s.word in END or set(s.flag) == {s.asked},
        }
        self.action_properties = {}
        self.sometimes = {
            "a call is told of success": lambda s: "ok" in s.waits,
            "a request is made again": lambda s: s.asked == 2 and s.word == CLEARING,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was asked."""
        config = self.config
        none = (0,) * config.ranks
        return (State(NORMAL, 0, ("none",) * config.callers, (NORMAL,) * config.callers, _NOBODY, none, none, _NOBODY),)

    # -- callers --------------------------------------------------------------------------------------------------

    def ask(self, s: State, c: int) -> State | None:
        """Ask for a clear or an update, whichever makes sense; or for what is under way again."""
        alone = "waits" not in s.waits or not (self.config.serialised or s.word in END)
        if s.asked >= self.config.max_asked or s.waits[c] == "waits" or not alone:
            return None
        word = BEGUN.get(s.word, s.word)
        return s._replace(
            word=word,
            asked=s.asked + 1,
            waits=replaced(s.waits, c, "waits"),
            goal=replaced(s.goal, c, END[word]),
            todo=frozenset(range(self.config.ranks)),
            flag=(0,) * self.config.ranks,
            failed=_NOBODY,
        )

    def see(self, s: State, c: int) -> State | None:
        """Read the word that was asked for."""
        there = s.waits[c] == "waits" and s.word == s.goal[c]
        return s._replace(waits=replaced(s.waits, c, "ok")) if there else None

    def give_up(self, s: State, c: int) -> State | None:
        """The time is over."""
        may = self.config.impatient and s.waits[c] == "waits"
        return s._replace(waits=replaced(s.waits, c, "late")) if may else None

    # -- ranks ----------------------------------------------------------------------------------------------------

    def take(self, s: State, r: int) -> State | None:
        """A rank begins."""
        may = r in s.todo and not s.doing[r]
        return s._replace(doing=replaced(s.doing, r, s.asked), todo=s.todo - {r}) if may else None

    def finish(self, s: State, r: int) -> State | None:
        """A rank raises its flag."""
        if not s.doing[r]:
            return None
        return s._replace(flag=replaced(s.flag, r, s.doing[r]), doing=replaced(s.doing, r, 0))

    def fail(self, s: State, r: int) -> State | None:
        """A rank's work raises."""
        if r not in self.config.failing or not s.doing[r] or s.doing[r] != s.asked:
            return None
        told = tuple("failed" if one == "waits" else one for one in s.waits)
        waits = told if self.config.tells_failures else s.waits
        return s._replace(doing=replaced(s.doing, r, 0), failed=s.failed | {r}, waits=waits)

    def settle(self, s: State) -> State | None:
        """All flags are up."""
        up = all(flag and (flag == s.asked or not self.config.keyed) for flag in s.flag)
        return s._replace(word=END[s.word]) if s.word in END and up else None


def _waits_for_what_comes(s: State) -> bool:
    return all(
        goal in (s.word, END.get(s.word)) for waits, goal in zip(s.waits, s.goal, strict=True) if waits == "waits"
    )


def fairness(config: Config) -> list[Fair[State]]:
    """Ranks go on, and callers look; nobody has to ask, and nobody has to give up."""
    found: list[Fair[State]] = [Fair("Settle", lambda s, a: a.name == "Settle")]
    kinds = (("c", config.callers, ("See",)), ("r", config.ranks, ("Take",)), ("r", config.ranks, ("Finish", "Fail")))
    for key, size, names in kinds:
        found += [
            Fair(f"{names[0]}({i})", lambda s, a, k=key, n=names, i=i: a.name in n and a.param(k) == i)  # type: ignore[misc]
            for i in range(size)
        ]
    return found


PROMISE: LeadsTo[State] = LeadsTo("CallReturns", lambda s: s.waits[0] == "waits", lambda s: s.waits[0] != "waits")

RACES: dict[str, Race[Config]] = {
    "P7.4": Race(Config(ranks=1, failing=_NOBODY, impatient=False, serialised=False), "WaitsForWhatComes"),
    "B54": Race(Config(callers=1, max_asked=1, impatient=False, tells_failures=False), "FailureIsTold"),
    "B54.late": Race(Config(callers=1, ranks=1, failing=_NOBODY, keyed=False), "DoneByAll"),
}
