"""Cache infos and connect tasks as FastDeploy ships them: the twin of ``tla/common/FlagChannelShipped.tla``.

Processes are numbers: ranks 0 .. N-1, then the producer N.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from models.kernel import Action, Model, Step, replaced

__all__ = ("Config", "FlagChannelShipped", "State")

NOBODY = -1


class State(NamedTuple):
    """All variables of the spec."""

    lock: int
    pc: tuple[str, ...]
    calls: int
    tasks: tuple[int, ...]
    flags: tuple[int, ...]
    puts: tuple[int, ...]
    got: tuple[tuple[int, ...], ...]
    idle: tuple[int, ...]


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the environment in which the shipped protocol works."""

    ranks: int = 2
    max_calls: int = 2
    max_idle: int = 1
    own_flag: bool = True
    barrier: bool = False
    flags_start: int = 1
    empty_puts: frozenset[int] = frozenset()

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "MaxCalls": self.max_calls,
            "MaxIdle": self.max_idle,
            "OwnFlag": self.own_flag,
            "Barrier": self.barrier,
            "FlagsStart": self.flags_start,
            "EmptyPuts": self.empty_puts,
        }


class FlagChannelShipped(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "cache_info as shipped" if config.own_flag else "connect as shipped"
        self.ranks = range(config.ranks)
        self.producer = config.ranks
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "PutAcquire": ((self.producer,), self.put_acquire),
            "PutScan": ((self.producer,), self.put_scan),
            "PutWait": ((self.producer,), lambda s, p: _when(s, p, "put: wait", "put again", lock=NOBODY)),
            "PutEmpty": ((self.producer,), self.put_empty),
            "PutAdd": ((self.producer,), self.put_add),
            "GetAcquire": (self.ranks, self.get_acquire),
            "GetCopy": (self.ranks, self.get_copy),
            "GetFlag": (self.ranks, self.get_flag),
            "GetEmpty": (self.ranks, lambda s, r: _when(s, r, "get: empty", "release", tasks=())),
            "Release": (range(config.ranks + 1), lambda s, x: _when(s, x, "release", "idle", lock=NOBODY)),
        }
        self.actions = {name: partial(self._each, name, who, step) for name, (who, step) in steps.items()}
        self.invariants = {
            "ExactlyOnceInOrder": lambda s: all(a < b for ids in s.got for a, b in pairwise(ids)),
            "FirstPutNeedsNobody": lambda s: s.pc[self.producer] != "put: wait" or bool(s.puts),
            "RoundsCarryItems": lambda s: s.lock != NOBODY or not s.puts or all(s.flags) or bool(s.tasks),
            "NothingLost": self._nothing_lost,
        }
        self.action_properties = {}
        self.sometimes = {"a put waits for readers": lambda s: "put: wait" in s.pc}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """The list is empty, and the flags are what they are."""
        n = self.config.ranks
        return (State(NOBODY, ("idle",) * (n + 1), 0, (), (self.config.flags_start,) * n, (), ((),) * n, (0,) * n),)

    def _each(
        self, name: str, who: Iterable[int], step: Callable[[State, int], State | None], s: State
    ) -> Iterator[Step[State]]:
        for x in who:
            if (after := step(s, x)) is not None:
                yield Action(name, (("rank" if x in self.ranks else "producer", x),)), after

    def _nothing_lost(self, s: State) -> bool:
        owed = {*s.puts} - self.config.empty_puts
        return s.lock != NOBODY or all(owed <= {*ids, *s.tasks} for ids in s.got)

    def put_acquire(self, s: State, p: int) -> State | None:
        """The lock, at first or again."""
        if s.lock != NOBODY:
            return None
        if s.pc[p] == "idle" and s.calls < self.config.max_calls:
            return _when(s, p, "idle", "put: scan", lock=p, calls=s.calls + 1)
        return _when(s, p, "put again", "put: scan", lock=p)

    def put_scan(self, s: State, p: int) -> State | None:
        """Have all ranks read?"""
        return _when(s, p, "put: scan", "put: empty" if all(s.flags) else "put: wait")

    def put_empty(self, s: State, p: int) -> State | None:
        """The list is empty and all flags are lowered."""
        return _when(s, p, "put: empty", "put: add", tasks=(), flags=(0,) * len(s.flags))

    def put_add(self, s: State, p: int) -> State | None:
        """What the put brings is in the list."""
        tasks = s.tasks if s.calls in self.config.empty_puts else (*s.tasks, s.calls)
        return _when(s, p, "put: add", "release", tasks=tasks, puts=(*s.puts, s.calls))

    def get_acquire(self, s: State, r: int) -> State | None:
        """A rank asks; with a barrier, only when no other rank is behind it."""
        level = all(len(s.got[r]) <= len(ids) for ids in s.got)
        may = s.lock == NOBODY and (level or not self.config.barrier)
        return _when(s, r, "idle", "get: copy", lock=r) if may else None

    def get_copy(self, s: State, r: int) -> State | None:
        """What is in the list, unless the rank's own flag is looked at and raised."""
        read = self.config.own_flag and s.flags[r] == 1
        to = "release" if read else "get: flag"
        if not read and s.tasks:
            return _when(s, r, "get: copy", to, got=replaced(s.got, r, s.got[r] + s.tasks))
        if s.idle[r] == self.config.max_idle:
            return None
        return _when(s, r, "get: copy", to, idle=replaced(s.idle, r, s.idle[r] + 1))

    def get_flag(self, s: State, r: int) -> State | None:
        """The own flag is raised, also when there was nothing."""
        last = all(flag for q, flag in enumerate(s.flags) if q != r)
        return _when(s, r, "get: flag", "get: empty" if last else "release", flags=replaced(s.flags, r, 1))


def _when(s: State, x: int, at: str, to: str, **change: Any) -> State | None:
    return s._replace(pc=replaced(s.pc, x, to), **change) if s.pc[x] == at else None
