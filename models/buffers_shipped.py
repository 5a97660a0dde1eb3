"""Memory that one process owns and another has mapped, as published. The twin of ``tla/status/BuffersShipped.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Model, once
from models.liveness import Fair, LeadsTo
from models.shipped_race import Race

__all__ = ("PROMISE", "RACES", "BuffersShipped", "Config", "State", "fairness")

NORMAL, UPDATING, CLEARING, CLEARED = 0, 1, -1, -2
_WORK = ("Free", "SayCleared", "Rebuild", "SayNormal", "Detach", "Load", "Attach", "GoOn", "StepEnds")


class State(NamedTuple):
    """All variables of the spec."""

    word: int
    asked: int
    there: bool
    mapped: bool
    loaded: bool
    pc: str


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the published steps work."""

    max_asked: int = 3
    looks_again: bool = True
    owner_waits: bool = True
    both_detach: bool = True

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "MaxAsked": self.max_asked,
            "LooksAgain": self.looks_again,
            "OwnerWaits": self.owner_waits,
            "BothDetach": self.both_detach,
        }


class BuffersShipped(Model[State]):
    """Next-state relation. Each method is one step, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "buffers as published"
        steps: dict[str, Callable[[State], State | None]] = {
            "Ask": self.ask,
            "Free": self.free,
            "SayCleared": self.say_cleared,
            "Rebuild": lambda s: s._replace(there=True) if s.word == UPDATING and not s.there else None,
            "SayNormal": self.say_normal,
            "Detach": self.detach,
            "Load": self.load,
            "Attach": self.attach,
            "GoOn": lambda s: s._replace(pc="top" if config.looks_again else "run") if s.pc == "after" else None,
            "Run": lambda s: s._replace(pc="run") if s.pc == "top" and s.word == NORMAL else None,
            "StepEnds": lambda s: s._replace(pc="top") if s.pc == "run" else None,
        }
        self.actions = {name: partial(once, name, step) for name, step in steps.items()}
        self.invariants = {
            "RunsOnMemory": lambda s: s.pc != "run" or (s.there and s.mapped and s.loaded),
            "FreedMeansUnmapped": lambda s: s.there or not s.mapped,
            "ChangeGoesOn": lambda s: s.word not in (CLEARING, UPDATING) or self._works(s),
        }
        self.action_properties = {}
        self.sometimes = {
            "all is cleared": lambda s: s.word == CLEARED,
            "all is restored": lambda s: (s.word, s.asked) == (NORMAL, 2),
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Everything is there."""
        return (State(NORMAL, 0, True, True, True, "top"),)

    def _works(self, s: State) -> bool:
        return any(True for name in _WORK for _ in self.actions[name](s))

    def ask(self, s: State) -> State | None:
        """A clear or an update, whichever makes sense."""
        if s.asked >= self.config.max_asked or s.word not in (NORMAL, CLEARED):
            return None
        return s._replace(asked=s.asked + 1, word=CLEARING if s.word == NORMAL else UPDATING)

    # -- the owner ------------------------------------------------------------------------------------------------

    def free(self, s: State) -> State | None:
        """The memory goes."""
        waits = self.config.owner_waits and s.mapped
        return s._replace(there=False) if s.word == CLEARING and s.there and not waits else None

    def say_cleared(self, s: State) -> State | None:
        """Nothing is left."""
        gone = not (s.there or s.mapped or s.loaded)
        return s._replace(word=CLEARED) if s.word == CLEARING and gone else None

    def say_normal(self, s: State) -> State | None:
        """Everything is there again."""
        return s._replace(word=NORMAL) if s.word == UPDATING and s.there and s.mapped and s.loaded else None

    # -- the worker -----------------------------------------------------------------------------------------------

    def detach(self, s: State) -> State | None:
        """Its half of a clear."""
        waits = not self.config.owner_waits and s.there
        if s.pc != "top" or s.word != CLEARING or not s.loaded or waits:
            return None
        return s._replace(loaded=False, mapped=s.mapped and not self.config.both_detach, pc="after")

    def load(self, s: State) -> State | None:
        """Its half of an update."""
        return s._replace(loaded=True, pc="after") if s.pc == "top" and s.word == UPDATING and not s.loaded else None

    def attach(self, s: State) -> State | None:
        """It maps what the owner has made."""
        may = s.pc == "top" and s.word == UPDATING and s.there and not s.mapped
        return s._replace(mapped=True) if may else None


def fairness(config: Config) -> list[Fair[State]]:
    """Who can go on does; nobody has to ask, or to run a step."""
    del config
    return [Fair("Work", lambda s, a: a.name in _WORK)]


PROMISE: LeadsTo[State] = LeadsTo("ClearEnds", lambda s: s.word == CLEARING, lambda s: s.word == CLEARED)

RACES: dict[str, Race[Config]] = {
    "B49": Race(Config(looks_again=False), "RunsOnMemory"),
    "B50": Race(Config(owner_waits=False), "FreedMeansUnmapped"),
    "B50.branch": Race(Config(both_detach=False), "ChangeGoesOn"),
}
