"""Pausing engines that step together, as published. The twin of ``tla/pause/WaveShipped.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Model, each, once, replaced
from models.liveness import Fair, LeadsTo
from models.shipped_race import Race

__all__ = ("PROMISE", "RACES", "Config", "State", "WaveShipped", "fairness")

NONE = -1


class State(NamedTuple):
    """All variables of the spec."""

    running: tuple[bool, ...]
    at: tuple[str, ...]
    stopped: tuple[bool, ...]
    wave: tuple[int, ...]
    order: tuple[bool, ...]
    waves: int
    epoch: int
    resumed: bool
    control: str


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the published steps work."""

    ranks: int = 2
    max_waves: int = 2
    pauses: bool = True
    resumes_again: bool = True
    two_phases: bool = True
    epochs: bool = True
    agreed: bool = True

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "MaxWaves": self.max_waves,
            "Pauses": self.pauses,
            "ResumesAgain": self.resumes_again,
            "TwoPhases": self.two_phases,
            "Epochs": self.epochs,
            "Agreed": self.agreed,
        }


class WaveShipped(Model[State]):
    """Next-state relation. Each method is one step, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "pause of engines that step together, as published"
        of_rank: dict[str, Callable[[State, int], State | None]] = {
            "Hear": self.hear,
            "Step": self.step,
            "Stop": self.stop,
            "TakeResume": self.take_resume,
        }
        alone: dict[str, Callable[[State], State | None]] = {
            "Wake": self.wake,
            "Stepped": lambda s: self._met(s, "step", running=(False,) * self.config.ranks),
            "CallPause": self.call_pause,
            "StopTogether": self.stop_together,
            "PauseReturns": self.pause_returns,
            "ResumeAgain": self.resume_again,
            "ResumedAgain": lambda s: self._met(s, "resume"),
        }
        every = range(self.config.ranks)
        self.actions = {name: partial(each, name, "r", every, step) for name, step in of_rank.items()}
        self.actions |= {name: partial(once, name, step) for name, step in alone.items()}
        self.invariants = {
            "PausedMeansStill": lambda s: s.control != "paused" or (set(s.at) == {"loop"} and not any(s.running)),
            "StepsWhole": lambda s: "step" not in s.at or not any(s.stopped),
            "SameCollective": lambda s: not {"step", "resume"} <= set(s.at),
        }
        self.action_properties = {}
        self.sometimes = {
            "it was paused": lambda s: s.control == "paused",
            "a pause waits for a step": lambda s: s.control == "pausing" and "step" in s.at,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """No rank has work."""
        n = self.config.ranks
        no = (False,) * n
        return (State(no, ("loop",) * n, no, (NONE,) * n, no, 0, 0, False, "run"),)

    # -- work -----------------------------------------------------------------------------------------------------

    def wake(self, s: State) -> State | None:
        """Work comes: a message to every rank."""
        idle = set(s.wave) == {NONE} and not any(s.running)
        may = s.control == "run" and s.waves < self.config.max_waves and idle
        return s._replace(waves=s.waves + 1, wave=(s.epoch,) * self.config.ranks) if may else None

    def hear(self, s: State, r: int) -> State | None:
        """The message arrives."""
        if s.wave[r] == NONE or s.at[r] != "loop":
            return None
        old = self.config.epochs and s.wave[r] < s.epoch and s.stopped[r]
        return s._replace(wave=replaced(s.wave, r, NONE), running=replaced(s.running, r, not old))

    def step(self, s: State, r: int) -> State | None:
        """A rank with work enters the collective of its step."""
        return s._replace(at=replaced(s.at, r, "step")) if s.at[r] == "loop" and s.running[r] else None

    def _met(self, s: State, where: str, **change: Any) -> State | None:
        return s._replace(at=("loop",) * self.config.ranks, **change) if set(s.at) == {where} else None

    # -- a pause --------------------------------------------------------------------------------------------------

    def call_pause(self, s: State) -> State | None:
        """A client pauses."""
        may = self.config.pauses and s.control == "run"
        return s._replace(control="pausing", epoch=s.epoch + 1) if may else None

    def stop(self, s: State, r: int) -> State | None:
        """A rank stops by itself."""
        if self.config.two_phases or s.control != "pausing" or s.stopped[r] or s.at[r] != "loop":
            return None
        return s._replace(stopped=replaced(s.stopped, r, True), running=replaced(s.running, r, False))

    def stop_together(self, s: State) -> State | None:
        """All stop at once, when none has to step."""
        idle = set(s.at) == {"loop"} and not any((*s.running, *s.stopped))
        may = self.config.two_phases and s.control == "pausing" and idle
        return s._replace(stopped=(True,) * self.config.ranks) if may else None

    def pause_returns(self, s: State) -> State | None:
        """Every rank has said that it has stopped."""
        return s._replace(control="paused") if s.control == "pausing" and all(s.stopped) else None

    # -- a second resume ------------------------------------------------------------------------------------------

    def resume_again(self, s: State) -> State | None:
        """A client resumes what runs."""
        if not self.config.resumes_again or s.control != "run" or s.resumed:
            return None
        return s._replace(resumed=True, order=s.order if self.config.agreed else (True,) * self.config.ranks)

    def take_resume(self, s: State, r: int) -> State | None:
        """A rank that does not run takes part in the collective of the resume."""
        if not s.order[r] or s.at[r] != "loop":
            return None
        return s._replace(order=replaced(s.order, r, False), at=replaced(s.at, r, "loop" if s.running[r] else "resume"))


def fairness(config: Config) -> list[Fair[State]]:
    """Messages arrive, and ranks go on; nobody has to ask for anything."""
    of_rank, alone = ("Hear", "Step", "Stop", "TakeResume"), ("Stepped", "StopTogether", "PauseReturns", "ResumedAgain")
    found = [Fair[State](name, lambda s, a, name=name: a.name == name) for name in alone]  # type: ignore[misc]
    for name in of_rank:
        found += [
            Fair(f"{name}({r})", lambda s, a, name=name, r=r: (a.name, a.param("r")) == (name, r))  # type: ignore[misc]
            for r in range(config.ranks)
        ]
    return found


PROMISE: LeadsTo[State] = LeadsTo("PauseComes", lambda s: s.control == "pausing", lambda s: s.control == "paused")

RACES: dict[str, Race[Config]] = {
    "B33": Race(Config(max_waves=1, resumes_again=False, epochs=False), "PausedMeansStill"),
    "B33.one_phase": Race(Config(max_waves=1, resumes_again=False, two_phases=False), "StepsWhole"),
    "B35": Race(Config(max_waves=1, pauses=False, agreed=False), "SameCollective"),
}
