"""The published prefix cache's side of swaps (``tla/blocks/BlocksShipped.tla``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from models.kernel import Action, Model, each, once, replaced
from models.liveness import Fair, LeadsTo

__all__ = ("RACES", "BlocksShipped", "Config", "State", "fairness", "promises")


class State(NamedTuple):
    """All variables of the spec. Task 1 is entry 0."""

    status: str
    listed: tuple[int, ...]
    caller: tuple[str, ...]
    event: tuple[str, ...]
    task: tuple[str, ...]
    receiver: str
    paused: bool
    reset: str
    lock: int


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    tasks: int = 1
    form: str = "clearing"
    bad: frozenset[int] = frozenset()
    full: bool = False
    pauses: bool = True
    quiet: bool = False

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "Tasks": self.tasks,
            "Form": self.form,
            "Bad": self.bad,
            "Full": self.full,
            "Pauses": self.pauses,
            "Quiet": self.quiet,
        }


RACES: dict[str, tuple[Config, str]] = {
    "P8.1": (Config(), "NoDuplicate"),
    "P8.2": (Config(pauses=False), "NoKeyError"),
    "P8.3": (Config(form="none", bad=frozenset({1}), pauses=False), "WaitsEnd"),
    "P8.4": (Config(), "NoStray"),
    "P8.5": (Config(form="none", full=True, pauses=False), "LockIsFreed"),
    "P8.6": (Config(form="updating", pauses=False), "NoStray"),
    "P8.7": (Config(form="control", pauses=False), "NoDuplicate"),
    "B08": (Config(form="queued"), "ResetEnds"),
}
"""Race -> the environment in which it shows, and what it breaks."""

_OF_TASK = ("Begin", "Put", "Pull", "Finish", "Pop", "Handle", "Return", "Leave", "Crash")
_OF_ALL = ("Pause", "Resume", "BeginReset", "SeeQuiet", "SeeEmpty", "ClearEvents", "Rebuild")


class BlocksShipped(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = f"published prefix cache, {self.config.form}"
        numbers = range(1, self.config.tasks + 1)
        of_task = {name: getattr(self, f"_{name.lower()}") for name in _OF_TASK}
        of_all: dict[str, Callable[[State], State | None]] = {
            "Pause": self._pause,
            "Resume": lambda s: s._replace(paused=False) if s.paused and s.reset == "done" else None,
            "BeginReset": self._begin_reset,
            "SeeQuiet": self._see_quiet,
            "SeeEmpty": self._see_empty,
            "ClearEvents": lambda s: (
                s._replace(reset="cleared", event=("none",) * len(s.event)) if s.reset == "empty" else None
            ),
            "Rebuild": lambda s: (
                s._replace(reset="done", listed=(1,) * len(s.listed), status="normal") if s.reset == "cleared" else None
            ),
        }
        self.actions = {
            **{name: lambda s, n=name, f=step: each(n, "task", numbers, f, s) for name, step in of_task.items()},  # type: ignore[misc]
            **{name: lambda s, n=name, f=step: once(n, f, s) for name, step in of_all.items()},  # type: ignore[misc]
        }
        self.invariants = {
            "NoDuplicate": lambda s: all(count <= 1 for count in s.listed),
            "NoKeyError": lambda s: "crashed" not in s.caller,
            "NoStray": lambda s: all(
                task != "running" or not count for task, count in zip(s.task, s.listed, strict=True)
            ),
        }
        self.action_properties = {}
        self.sometimes = {}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Every block is in use."""
        n = self.config.tasks
        nothing = ("none",) * n
        return (State("normal", (0,) * n, ("idle",) * n, nothing, nothing, "up", False, "no", 0),)

    @staticmethod
    def _idle(s: State) -> bool:
        return set(s.caller) <= {"idle", "returned"} and set(s.task) <= {"none", "handled"}

    # -- who issues ----------------------------------------------------------------------------------------------

    def _begin(self, s: State, t: int) -> State | None:
        may = s.caller[t - 1] == "idle" and not s.lock and s.status == "normal" and not s.listed[t - 1]
        if not may or (self.config.quiet and (s.reset != "no" or s.paused)):
            return None
        return s._replace(lock=t, caller=replaced(s.caller, t - 1, "putting"), event=replaced(s.event, t - 1, "unset"))

    def _put(self, s: State, t: int) -> State | None:
        if s.caller[t - 1] != "putting" or self.config.full:
            return None
        return s._replace(caller=replaced(s.caller, t - 1, "waiting"), task=replaced(s.task, t - 1, "queued"), lock=0)

    def _return(self, s: State, t: int) -> State | None:
        return _left(s, t, "returned") if s.event[t - 1] == "set" else None

    def _leave(self, s: State, t: int) -> State | None:
        return _left(s, t, "left") if s.event[t - 1] == "unset" and s.status != "normal" else None

    def _crash(self, s: State, t: int) -> State | None:
        return _left(s, t, "crashed") if s.event[t - 1] == "none" else None

    # -- the ranks, and the receiver -----------------------------------------------------------------------------

    def _pull(self, s: State, t: int) -> State | None:
        return None if s.paused else _moved(s, t, "queued", "running")

    def _finish(self, s: State, t: int) -> State | None:
        return _moved(s, t, "running", "posted")

    def _pop(self, s: State, t: int) -> State | None:
        return None if s.receiver != "up" or "popped" in s.task else _moved(s, t, "posted", "popped")

    def _handle(self, s: State, t: int) -> State | None:
        after = _moved(s, t, "popped", "handled") if s.receiver == "up" else None
        if after is None:
            return None
        bad, unknown = t in self.config.bad, s.event[t - 1] == "none"
        return after._replace(
            listed=s.listed if bad else replaced(s.listed, t - 1, s.listed[t - 1] + 1),
            event=s.event if bad or unknown else replaced(s.event, t - 1, "set"),
            receiver="dead" if (bad or unknown) and s.status == "normal" else "up",
        )

    def _pause(self, s: State) -> State | None:
        may = self.config.pauses and not s.paused and "running" not in s.task
        return s._replace(paused=True) if may and (not self.config.quiet or self._idle(s)) else None

    # -- the reset -----------------------------------------------------------------------------------------------

    def _begin_reset(self, s: State) -> State | None:
        form = self.config.form
        if form == "none" or s.reset != "no" or (self.config.pauses and not s.paused):
            return None
        if self.config.quiet and not self._idle(s):
            return None
        return s._replace(reset="began", status=s.status if form == "control" else "resetting")

    def _see_quiet(self, s: State) -> State | None:
        form = self.config.form
        running = "running" in s.task and form in ("clearing", "queued")
        queued = "queued" in s.task and form == "queued"
        return s._replace(reset="quiet") if s.reset == "began" and not running and not queued else None

    def _see_empty(self, s: State) -> State | None:
        posted = "posted" in s.task and self.config.form in ("clearing", "queued")
        return s._replace(reset="empty") if s.reset == "quiet" and not posted else None


def _left(s: State, t: int, how: str) -> State | None:
    if s.caller[t - 1] != "waiting":
        return None
    return s._replace(caller=replaced(s.caller, t - 1, how), event=replaced(s.event, t - 1, "none"))


def _moved(s: State, t: int, stage: str, then: str) -> State | None:
    return s._replace(task=replaced(s.task, t - 1, then)) if s.task[t - 1] == stage else None


def fairness(config: Config) -> list[Fair[State]]:
    """Everybody goes on; nobody has to begin, pause, resume or reset."""

    def is_(action: Action) -> Fair[State]:
        return Fair(str(action), lambda s, a: a == action)

    numbers = range(1, config.tasks + 1)
    found = [is_(Action(name, (("task", t),))) for t in numbers for name in _OF_TASK if name != "Begin"]
    return found + [is_(Action(name)) for name in _OF_ALL[3:]]


def promises(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return what must happen in the end."""

    def waits(t: int) -> LeadsTo[State]:
        return LeadsTo(f"WaitsEnd({t})", lambda s: s.caller[t - 1] == "waiting", lambda s: s.caller[t - 1] != "waiting")

    return {
        "WaitsEnd": [waits(t) for t in range(1, config.tasks + 1)],
        "LockIsFreed": [LeadsTo("LockIsFreed", lambda s: s.lock != 0, lambda s: s.lock == 0)],
        "ResetEnds": [LeadsTo("ResetEnds", lambda s: s.reset == "began", lambda s: s.reset == "done")],
    }
