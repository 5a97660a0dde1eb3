"""The cache queue as FastDeploy ships it: the twin of ``tla/bitmask/BitmaskShipped.tla``.

Processes are numbers: ranks 0 .. N-1, then producers N .. N+P-1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from models.kernel import Action, Model, Step, replaced

__all__ = ("BitmaskShipped", "Config", "State")

NOBODY = -1


class State(NamedTuple):
    """All variables of the spec."""

    lock: int
    tasks: tuple[int, ...]
    sync: int
    pc: tuple[str, ...]
    calls: int
    clears: int
    alive: tuple[bool, ...]
    got: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the environment in which the shipped protocol works."""

    ranks: int = 2
    producers: int = 1
    max_calls: int = 3
    max_clears: int = 1
    mortal: frozenset[int] = frozenset()
    recheck: bool = True

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "P": self.producers,
            "MaxCalls": self.max_calls,
            "MaxClears": self.max_clears,
            "Mortal": self.mortal,
            "Recheck": self.recheck,
        }


class BitmaskShipped(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "bitmask as shipped"
        self.full = (1 << config.ranks) - 1
        self.ranks = range(config.ranks)
        everybody = range(config.ranks + config.producers)
        producers = range(config.ranks, config.ranks + config.producers)
        steps: dict[str, tuple[range, Callable[[State, int], State | None]]] = {
            "CallPut": (producers, self.call_put),
            "CallClear": (producers, self.call_clear),
            "Acquire": (producers, self.acquire),
            "Look": (producers, self.look),
            "GiveBack": (producers, self.give_back),
            "Poll": (producers, self.poll),
            "Reset": (producers, self.reset),
            "Change": (producers, self.change),
            "GetAcquire": (self.ranks, self.get_acquire),
            "GetLook": (self.ranks, self.get_look),
            "GetPop": (self.ranks, lambda s, r: _when(s, r, "get: pop", "get: zero", tasks=s.tasks[1:])),
            "GetStore": (self.ranks, self.get_store),
            "Kill": (self.ranks, self.kill),
            "Release": (everybody, lambda s, x: _when(s, x, "release", "idle", lock=NOBODY)),
        }
        self.actions = {name: partial(self._each, name, who, step) for name, (who, step) in steps.items()}
        self.invariants = {
            "ExactlyOnceInOrder": lambda s: all(a < b for ids in s.got for a, b in pairwise(ids)),
            "InStep": lambda s: all({*ids} <= {*others, *s.tasks} for ids in s.got for others in s.got),
        }
        self.action_properties = {}
        self.sometimes = {
            "a put waits for a half read task": lambda s: "put: poll" in s.pc,
            "every rank took the last task": lambda s: all(config.max_calls in ids for ids in s.got),
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing is queued."""
        processes = self.config.ranks + self.config.producers
        got: tuple[tuple[int, ...], ...] = ((),) * self.config.ranks
        return (State(NOBODY, (), 0, ("idle",) * processes, 0, 0, (True,) * processes, got),)

    def _each(
        self, name: str, who: range, step: Callable[[State, int], State | None], s: State
    ) -> Iterator[Step[State]]:
        for x in who:
            if (after := step(s, x)) is not None:
                yield Action(name, (("rank" if x in self.ranks else "producer", x),)), after

    def _partial(self, s: State) -> bool:
        return s.sync not in (0, self.full)

    def call_put(self, s: State, p: int) -> State | None:
        """A put begins."""
        return _when(s, p, "idle", "put", calls=s.calls + 1) if s.calls < self.config.max_calls else None

    def call_clear(self, s: State, p: int) -> State | None:
        """A clear begins."""
        return _when(s, p, "idle", "clear", clears=s.clears + 1) if s.clears < self.config.max_clears else None

    def acquire(self, s: State, p: int) -> State | None:
        """The lock, at first or again; again, the number is not looked at."""
        if s.lock != NOBODY or s.pc[p] not in ("put", "clear", "put again", "clear again"):
            return None
        what, *again = s.pc[p].split()
        return _go(s, p, f"{what}: look" if not again or self.config.recheck else f"{what}: reset", lock=p)

    def look(self, s: State, p: int) -> State | None:
        """The number, under the lock."""
        return _next(s, p, "look", "wait" if self._partial(s) else "reset")

    def give_back(self, s: State, p: int) -> State | None:
        """The lock is given back."""
        return _next(s, p, "wait", "poll", lock=NOBODY)

    def poll(self, s: State, p: int) -> State | None:
        """The number, without the lock."""
        if self._partial(s) or s.pc[p] not in ("put: poll", "clear: poll"):
            return None
        return _go(s, p, f"{s.pc[p].split(':')[0]} again")

    def reset(self, s: State, p: int) -> State | None:
        """No bit is set any more."""
        return _next(s, p, "reset", "append" if s.pc[p].startswith("put") else "empty", sync=0)

    def change(self, s: State, p: int) -> State | None:
        """The task is in the list, or the list is empty."""
        if s.pc[p] == "put: append":
            return _go(s, p, "release", tasks=(*s.tasks, s.calls))
        return _go(s, p, "release", tasks=()) if s.pc[p] == "clear: empty" else None

    def get_acquire(self, s: State, r: int) -> State | None:
        """A rank asks for a task."""
        return _when(s, r, "idle", "get: look", lock=r) if s.lock == NOBODY else None

    def get_look(self, s: State, r: int) -> State | None:
        """It takes the first task, unless its bit is set."""
        if s.sync >> r & 1 or not s.tasks:
            return _when(s, r, "get: look", "release")
        got = replaced(s.got, r, (*s.got[r], s.tasks[0]))
        last = s.sync + (1 << r) >= self.full
        return _when(s, r, "get: look", "get: pop" if last else "get: store", got=got)

    def get_store(self, s: State, r: int) -> State | None:
        """The number is stored: with the rank's bit, or 0 when the task is gone."""
        if s.pc[r] == "get: zero":
            return _when(s, r, "get: zero", "release", sync=0)
        return _when(s, r, "get: store", "release", sync=s.sync + (1 << r))

    def kill(self, s: State, r: int) -> State | None:
        """A rank dies outside the critical section."""
        if r not in self.config.mortal or not s.alive[r] or s.lock == r:
            return None
        return s._replace(alive=replaced(s.alive, r, False))


def _go(s: State, x: int, to: str, **change: Any) -> State:
    return s._replace(pc=replaced(s.pc, x, to), **change)


def _when(s: State, x: int, at: str, to: str, **change: Any) -> State | None:
    return _go(s, x, to, **change) if s.pc[x] == at and s.alive[x] else None


def _next(s: State, p: int, at: str, to: str, **change: Any) -> State | None:
    """The step of a put or a clear, which go alike."""
    what = s.pc[p].split(":")[0]
    return _go(s, p, f"{what}: {to}", **change) if s.pc[p] == f"{what}: {at}" else None
