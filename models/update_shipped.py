"""Updates behind front ends with locks of their own, as published. The twin of ``tla/pause/UpdateShipped.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Model, each, once, replaced
from models.liveness import Fair, LeadsTo
from models.shipped_race import Race

__all__ = ("PROMISE", "RACES", "Config", "State", "UpdateShipped", "fairness")

_NOBODY: frozenset[int] = frozenset()
_CLIENT = ("Pause", "Look", "Lock", "Update", "Updated", "After", "Resume")


class State(NamedTuple):
    """All variables of the spec."""

    frozen: bool
    knows: frozenset[int]
    request: tuple[str, ...]
    pc: str


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the published steps work."""

    fronts: int = 2
    meddles: bool = True
    queues: bool = True
    holds: bool = True
    needs_no_lock: bool = True
    one_authority: bool = True
    waiting_may_stay: bool = True

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "Fronts": self.fronts,
            "Meddles": self.meddles,
            "Queues": self.queues,
            "Holds": self.holds,
            "NeedsNoLock": self.needs_no_lock,
            "OneAuthority": self.one_authority,
            "WaitingMayStay": self.waiting_may_stay,
        }


class UpdateShipped(Model[State]):
    """Next-state relation. Each method is one step, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "update behind front ends as published"
        self.last = self.config.fronts - 1
        of_front: dict[str, Callable[[State, int], State | None]] = {
            "Queue": self.queue,
            "Begin": self.begin,
            "End": self.end,
            "News": self.news,
        }
        alone: dict[str, Callable[[State], State | None]] = {
            "Pause": self.pause,
            "Look": self.look,
            "Lock": lambda s: self._go(s, "wants the lock", "locked update") if self._free(s) else None,
            "Update": lambda s: self._go(s, "looked", "update"),
            "Updated": self.updated,
            "After": self.after,
            "Resume": lambda s: self._go(s, "after", "end", frozen=False, knows=_NOBODY),
            "Meddle": self.meddle,
        }
        every = range(self.config.fronts)
        self.actions = {name: partial(each, name, "f", every, step) for name, step in of_front.items()}
        self.actions |= {name: partial(once, name, step) for name, step in alone.items()}
        self.invariants = {"UpdatesAlone": self._updates_alone, "ClientGoesOn": self._client_goes_on}
        self.action_properties = {}
        self.sometimes = {
            "it was updated in a pause": lambda s: s.pc == "update",
            "a request is frozen": lambda s: s.frozen and "reads" in s.request,
            "it was updated while a request waits": lambda s: s.pc == "after" and "waits" in s.request,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody has asked for anything."""
        return (State(False, _NOBODY, ("none",) * self.config.fronts, "start"),)

    def _free(self, s: State) -> bool:
        return s.request[self.last] != "reads"

    def _updates_alone(self, s: State) -> bool:
        return s.pc not in ("update", "locked update") or s.frozen or self._free(s)

    def _client_goes_on(self, s: State) -> bool:
        return s.pc == "end" or any(True for name in (*_CLIENT, "End") for _ in self.actions[name](s))

    @staticmethod
    def _go(s: State, at: str, to: str, **change: Any) -> State | None:
        return s._replace(pc=to, **change) if s.pc == at else None

    # -- requests -------------------------------------------------------------------------------------------------

    def queue(self, s: State, f: int) -> State | None:
        """A request comes in a pause, and waits."""
        may = self.config.queues and s.frozen and s.request[f] == "none"
        return s._replace(request=replaced(s.request, f, "waits")) if may else None

    def begin(self, s: State, f: int) -> State | None:
        """A request begins, with the lock of readers."""
        locked = f == self.last and s.pc == "locked update"
        may = not s.frozen and s.request[f] in ("none", "waits") and not locked
        return s._replace(request=replaced(s.request, f, "reads")) if may else None

    def end(self, s: State, f: int) -> State | None:
        """It ends, unless it is frozen."""
        may = not s.frozen and s.request[f] == "reads"
        return s._replace(request=replaced(s.request, f, "over")) if may else None

    # -- clients --------------------------------------------------------------------------------------------------

    def pause(self, s: State) -> State | None:
        """The engine freezes; the first front end knows, or all do."""
        knows = frozenset(range(self.config.fronts)) if self.config.one_authority else frozenset({0})
        return self._go(s, "start", "paused", frozen=True, knows=knows)

    def news(self, s: State, f: int) -> State | None:
        """Another front end is told of the pause."""
        return s._replace(knows=s.knows | {f}) if s.frozen and f not in s.knows else None

    def look(self, s: State) -> State | None:
        """The update asks the last front end whether there is a pause."""
        return self._go(s, "paused", "looked" if self.last in s.knows else "wants the lock")

    def updated(self, s: State) -> State | None:
        """The weights are there."""
        return s._replace(pc="updated") if s.pc in ("update", "locked update") else None

    def after(self, s: State) -> State | None:
        """The step after the update, such as a flush of what was computed with the weights of before."""
        config = self.config
        may = (config.needs_no_lock or self._free(s)) and (config.waiting_may_stay or "waits" not in s.request)
        return self._go(s, "updated", "after") if may else None

    def meddle(self, s: State) -> State | None:
        """Another client resumes."""
        held = self.config.holds and s.pc in ("looked", "update")
        return s._replace(frozen=False, knows=_NOBODY) if self.config.meddles and s.frozen and not held else None


def fairness(config: Config) -> list[Fair[State]]:
    """The client goes on, requests end, news arrive; nobody has to meddle."""
    found: list[Fair[State]] = [Fair("Client", lambda s, a: a.name in _CLIENT)]
    for name in ("End", "News"):
        found += [
            Fair(f"{name}({f})", lambda s, a, name=name, f=f: (a.name, a.param("f")) == (name, f))  # type: ignore[misc]
            for f in range(config.fronts)
        ]
    return found


PROMISE: LeadsTo[State] = LeadsTo("UpdateEnds", lambda s: s.pc == "paused", lambda s: s.pc == "end")

RACES: dict[str, Race[Config]] = {
    "B36": Race(Config(fronts=1, queues=False, holds=False), "UpdatesAlone"),
    "B37": Race(Config(fronts=1, meddles=False, queues=False, needs_no_lock=False), "ClientGoesOn"),
    "B38": Race(Config(fronts=1, meddles=False, waiting_may_stay=False), "ClientGoesOn"),
    "B39": Race(Config(meddles=False, queues=False, one_authority=False), "ClientGoesOn"),
}
