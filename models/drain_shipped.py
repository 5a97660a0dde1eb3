"""An engine's pause that drains, as FastDeploy and others have published it. Twin of ``tla/pause/DrainShipped.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Model, each, once, replaced
from models.liveness import Fair, LeadsTo
from models.shipped_race import Race

__all__ = ("PROMISE", "RACES", "Config", "DrainShipped", "State", "fairness")


class State(NamedTuple):
    """All variables of the spec."""

    closed: bool
    request: tuple[str, ...]
    marks: frozenset[int]
    device: bool
    control: str


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the published steps work."""

    requests: int = 2
    aborted: frozenset[int] = frozenset({1})
    loop_runs_on: bool = True
    only_live: bool = True
    waits_for_device: bool = True
    owner_ends: bool = True

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "Requests": self.requests,
            "Aborted": self.aborted,
            "LoopRunsOn": self.loop_runs_on,
            "OnlyLive": self.only_live,
            "WaitsForDevice": self.waits_for_device,
            "OwnerEnds": self.owner_ends,
        }


class DrainShipped(Model[State]):
    """Next-state relation. Each method is one step, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "drain as published"
        of_request: dict[str, Callable[[State, int], State | None]] = {
            "Admit": self.admit,
            "Abort": self.abort,
            "Finish": self.finish,
            "EndAborted": self.end_aborted,
        }
        alone: dict[str, Callable[[State], State | None]] = {
            "Launch": self.launch,
            "StepEnds": lambda s: s._replace(device=False) if s.device else None,
            "CallPause": lambda s: s._replace(control="pausing", closed=True) if s.control == "run" else None,
            "PauseReturns": self.pause_returns,
            "ResumeNothing": self.resume_nothing,
        }
        every = range(self.config.requests)
        self.actions = {name: partial(each, name, "r", every, step) for name, step in of_request.items()}
        self.actions |= {name: partial(once, name, step) for name, step in alone.items()}
        self.invariants = {
            "PausedMeansStill": lambda s: s.control != "paused" or not ("live" in s.request or s.device),
            "PauseCanReturn": self._pause_can_return,
        }
        self.action_properties = {}
        self.sometimes = {
            "it was paused": lambda s: s.control == "paused",
            "a pause waits for a request": lambda s: s.control == "pausing" and "live" in s.request,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """No request has come."""
        return (State(False, ("out",) * self.config.requests, frozenset(), False, "run"),)

    def _pause_can_return(self, s: State) -> bool:
        moving = ("Launch", "Finish", "EndAborted", "StepEnds", "PauseReturns")
        return s.control != "pausing" or any(True for name in moving for _ in self.actions[name](s))

    def admit(self, s: State, r: int) -> State | None:
        """A request comes."""
        may = not s.closed and s.request[r] == "out"
        return s._replace(request=replaced(s.request, r, "live")) if may else None

    def abort(self, s: State, r: int) -> State | None:
        """Its user aborts it: a mark for the loop."""
        may = s.request[r] == "live" or (not self.config.only_live and s.request[r] == "over")
        return s._replace(marks=s.marks | {r}) if may and r in self.config.aborted - s.marks else None

    # -- the loop -------------------------------------------------------------------------------------------------

    def _goes(self, s: State) -> bool:
        return self.config.loop_runs_on or not s.closed

    def launch(self, s: State) -> State | None:
        """A step is launched, and not waited for."""
        return s._replace(device=True) if self._goes(s) and "live" in s.request and not s.device else None

    def finish(self, s: State, r: int) -> State | None:
        """A request is complete."""
        if not self._goes(s) or s.request[r] != "live" or s.device:
            return None
        return s._replace(
            request=replaced(s.request, r, "over"), marks=s.marks - {r} if self.config.only_live else s.marks
        )

    def end_aborted(self, s: State, r: int) -> State | None:
        """A marked request is ended, whatever the device does."""
        if not self._goes(s) or r not in s.marks or s.request[r] != "live":
            return None
        return s._replace(request=replaced(s.request, r, "over"), marks=s.marks - {r})

    # -- clients --------------------------------------------------------------------------------------------------

    def pause_returns(self, s: State) -> State | None:
        """The client sees that nothing is left."""
        config = self.config
        waits = "live" in s.request or (not config.only_live and s.marks) or (config.waits_for_device and s.device)
        return s._replace(control="paused") if s.control == "pausing" and not waits else None

    def resume_nothing(self, s: State) -> State | None:
        """Another client's resume takes the flag."""
        may = not self.config.owner_ends and s.control == "pausing" and s.closed
        return s._replace(closed=False) if may else None


def fairness(config: Config) -> list[Fair[State]]:
    """The device, the loop and the client go on; users and other clients need not."""
    every = range(config.requests)
    found = [Fair[State](name, lambda s, a, name=name: a.name == name) for name in ("StepEnds", "PauseReturns")]  # type: ignore[misc]
    for name, strong in (("Finish", True), ("EndAborted", False)):
        found += [
            Fair(f"{name}({r})", lambda s, a, name=name, r=r: (a.name, a.param("r")) == (name, r), strong)  # type: ignore[misc]
            for r in every
        ]
    return found


PROMISE: LeadsTo[State] = LeadsTo("PauseComes", lambda s: s.control == "pausing", lambda s: s.control == "paused")

_ONE = Config(requests=1, aborted=frozenset({0}))

RACES: dict[str, Race[Config]] = {
    "B31": Race(replace(_ONE, loop_runs_on=False), "PauseCanReturn"),
    "B32": Race(replace(_ONE, only_live=False), "PauseCanReturn"),
    "B34": Race(replace(_ONE, waits_for_device=False), "PausedMeansStill"),
    "B42": Race(replace(_ONE, aborted=frozenset(), owner_ends=False), "PausedMeansStill"),
}
