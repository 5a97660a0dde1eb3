"""The gate as FastDeploy ships it: one step is one round trip of one process to the manager.

The twin of ``tla/gate/GateShipped.tla``. Processes are numbers: ranks 0 .. N-1, then the engine, N.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Action, Model, Step, replaced

__all__ = ("RACES", "Answer", "Config", "GateShipped", "State")

NOBODY = -1


class Answer(NamedTuple):
    """An entry of the shared list."""

    rank: int
    request: int


class State(NamedTuple):
    """All variables of the spec."""

    lock: int
    list: tuple[Answer, ...]
    flags: tuple[int, ...]
    canPut: int
    pc: tuple[str, ...]
    next: tuple[int, ...]
    alive: tuple[bool, ...]
    taken: tuple[tuple[Answer, ...], ...]


OneStep = Callable[[State, int], "State | None"]


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped protocol works."""

    ranks: int = 2
    requests: int = 2
    barrier: bool = True
    skippers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    polling: bool = True
    conflicts: frozenset[int] = frozenset()

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "M": self.requests,
            "Barrier": self.barrier,
            "Skippers": self.skippers,
            "Mortal": self.mortal,
            "Polling": self.polling,
            "Conflicts": self.conflicts,
        }


class GateShipped(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "gate as shipped"
        self.engine = config.ranks
        actions: dict[str, Callable[[State], Iterator[Step[State]]]] = {}
        for name, step in self._rank_steps().items():
            actions[name] = partial(self._each, name, range(config.ranks), step)
        for name, step in self._engine_steps().items():
            actions[name] = partial(self._each, name, (self.engine,), step)
        self.actions = actions
        everyone = set(range(config.ranks))
        self.invariants = {
            "NoMixing": lambda s: all(
                len(answers) == config.ranks
                and {a.rank for a in answers} == everyone
                and len({a.request for a in answers}) == 1
                for answers in s.taken
            ),
            "OncePerRound": lambda s: len({a.rank for a in s.list}) == len(s.list),
            "NeverWaits": lambda s: s.pc[self.engine] != "get: wait",
            "NoLeakedLock": lambda s: s.lock != self.engine or s.pc[self.engine] != "raised",
        }
        self.action_properties = {}
        self.sometimes = {"everything was collected": lambda s: len(s.taken) == config.requests}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """No answers, and the gate is open."""
        ranks = self.config.ranks
        return (
            State(
                lock=NOBODY,
                list=(),
                flags=(0,) * ranks,
                canPut=1,
                pc=("idle",) * (ranks + 1),
                next=(1,) * ranks,
                alive=(True,) * (ranks + 1),
                taken=(),
            ),
        )

    def _each(self, name: str, who: Iterable[int], step: OneStep, s: State) -> Iterator[Step[State]]:
        for x in who:
            if (after := step(s, x)) is not None:
                yield Action(name, (("rank", x),) if x != self.engine else ()), after

    # -- ranks ---------------------------------------------------------------------------------------------------

    def _rank_steps(self) -> dict[str, OneStep]:
        return {
            "CallPut": self.call_put,
            "Skip": self.skip,
            "PutAcquire": lambda s, r: _acquire(s, r, "put", "put: look"),
            "PutLook": lambda s, r: _when(s, r, "put: look", "put: append" if s.canPut else "put: wait"),
            "PutWait": lambda s, r: _release(s, r, "put: wait", "put"),
            "PutAppend": lambda s, r: _when(s, r, "put: append", "put: flag", list=(*s.list, Answer(r, s.next[r]))),
            "PutFlag": lambda s, r: _when(s, r, "put: flag", "put: scan", flags=replaced(s.flags, r, 1)),
            "PutScan": lambda s, r: _when(s, r, "put: scan", "put: close" if all(s.flags) else "put: release"),
            "PutClose": lambda s, r: _when(s, r, "put: close", "put: release", canPut=0),
            "PutRelease": self.put_release,
            "Kill": self.kill,
        }

    def call_put(self, s: State, r: int) -> State | None:
        """A rank begins to answer its next request; a barrier lets it only when the others are not behind."""
        if s.next[r] > self.config.requests or (self.config.barrier and min(s.next) < s.next[r]):
            return None
        return _when(s, r, "idle", "put")

    def skip(self, s: State, r: int) -> State | None:
        """A rank passes over its next request."""
        if r not in self.config.skippers or s.next[r] > self.config.requests:
            return None
        return _when(s, r, "idle", "idle", next=replaced(s.next, r, s.next[r] + 1))

    def put_release(self, s: State, r: int) -> State | None:
        """The put returns."""
        after = _release(s, r, "put: release", "idle")
        return after and after._replace(next=replaced(s.next, r, s.next[r] + 1))

    def kill(self, s: State, r: int) -> State | None:
        """A process dies that does not hold the lock."""
        may = r in self.config.mortal and s.alive[r] and s.lock != r
        return s._replace(alive=replaced(s.alive, r, False)) if may else None

    # -- the engine ----------------------------------------------------------------------------------------------

    def _engine_steps(self) -> dict[str, OneStep]:
        return {
            "CallGet": lambda s, e: _when(s, e, "idle", "get") if self.config.polling else None,
            "GetAcquire": lambda s, e: _acquire(s, e, "get", "get: look") or _acquire(s, e, "get again", "get: scan"),
            "GetLook": lambda s, e: _when(s, e, "get: look", "get: scan" if s.list else "get: release"),
            "GetScan": lambda s, e: _when(s, e, "get: scan", "get: combine" if all(s.flags) else "get: wait"),
            "GetWait": lambda s, e: _release(s, e, "get: wait", "get again"),
            "GetCombine": self.get_combine,
            "GetEmpty": lambda s, e: _when(s, e, "get: empty", "get: flags", list=()),
            "GetFlags": lambda s, e: _when(s, e, "get: flags", "get: open", flags=(0,) * len(s.flags)),
            "GetOpen": lambda s, e: _when(s, e, "get: open", "get: release", canPut=1),
            "GetRelease": lambda s, e: _release(s, e, "get: release", "idle"),
        }

    def get_combine(self, s: State, e: int) -> State | None:
        """The answers become one. An exception leaves the lock locked and the gate closed."""
        if any(answer.request in self.config.conflicts for answer in s.list):
            return _when(s, e, "get: combine", "raised")
        return _when(s, e, "get: combine", "get: empty", taken=(*s.taken, s.list))


def _when(s: State, x: int, at: str, to: str, **change: Any) -> State | None:
    """The step of a living process that is at a label."""
    if s.pc[x] != at or not s.alive[x]:
        return None
    return s._replace(pc=replaced(s.pc, x, to), **change)


def _acquire(s: State, x: int, at: str, to: str) -> State | None:
    return _when(s, x, at, to, lock=x) if s.lock == NOBODY else None


def _release(s: State, x: int, at: str, to: str) -> State | None:
    return _when(s, x, at, to, lock=NOBODY) if s.lock == x else None


@dataclass(frozen=True)
class Race:
    """A safety race: an environment in which it shows, and the property that fails."""

    config: Config
    violates: str


# P10.5 and C06 (a rank that never answers, one that dies) and P11.4 are liveness, and left to TLC.
RACES: dict[str, Race] = {
    "P10.4": Race(Config(barrier=False), "NoMixing"),
    "P11.1": Race(Config(barrier=False), "OncePerRound"),
    "P11.2": Race(Config(conflicts=frozenset({1})), "NoLeakedLock"),
    "P11.3": Race(Config(), "NeverWaits"),
}
