"""Rearrangements as FastDeploy coordinates them: one step is one access to one word.

The twin of ``tla/rearrange/RearrangeShipped.tla``. Requesters are numbers 1 .. M.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Model, Step, each, once, replaced

__all__ = ("RACES", "Config", "Race", "RearrangeShipped", "State")


class State(NamedTuple):
    """All variables of the spec."""

    size: int
    cells: tuple[int, ...]
    status: int
    disk: tuple[int, ...]
    told: tuple[int, ...]
    result: tuple[int, ...]
    tensor: int
    infos: tuple[int, ...]
    asking: tuple[str, ...]
    manager: str
    list: tuple[int, ...]
    next: int
    loader: tuple[str, ...]
    job: tuple[int, ...]
    worker: str
    served: frozenset[int]


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped protocol works."""

    ranks: int = 2
    requesters: int = 1
    bytes_first: bool = True
    turns: bool = True
    gives_up: bool = False
    hasty: bool = False
    failing: frozenset[int] = frozenset()
    deaf: frozenset[int] = frozenset()

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "M": self.requesters,
            "BytesFirst": self.bytes_first,
            "Turns": self.turns,
            "GivesUp": self.gives_up,
            "Hasty": self.hasty,
            "Failing": self.failing,
            "Deaf": self.deaf,
        }


OneStep = Callable[[State, int], "State | None"]


class RearrangeShipped(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "rearrange as shipped"
        actions: dict[str, Callable[[State], Iterator[Step[State]]]] = {}
        requesters = range(1, config.requesters + 1)
        for name, ask in (("Look", self.look), ("WriteSize", self.write_size), ("WriteCell", self.write_cell)):
            actions[name] = partial(each, name, "requester", requesters, ask)
        for name, step in self._manager_steps().items():
            actions[name] = partial(once, name, step)
        for name, load in self._loader_steps().items():
            actions[name] = partial(each, name, "rank", range(config.ranks), load)
        for name, step in self._worker_steps().items():
            actions[name] = partial(once, name, step)
        self.actions = actions
        self.invariants = {
            "AddressesWhole": lambda s: s.manager != "start" or (s.list[0] != 0 and s.list[0] == s.list[1]),
            "OneAtATime": self.one_at_a_time,
            "LoadedByAll": lambda s: s.manager != "declare" or set(s.infos) == {s.list[0]},
            "AllTold": lambda s: s.manager != "declare" or set(s.told) == {s.list[0]},
            "NoFailedUpdate": lambda s: s.status != 2 or -1 not in s.result,
            "NoReset": lambda s: s.worker != "swap" or s.status != 0,
        }
        self.action_properties = {
            "NotErased": lambda s, a, t: (s.manager, t.manager) != ("clear", "start") or s.cells == s.list,
            "FlagKept": lambda s, a, t: all(
                not (old and not new) or told == job
                for old, new, told, job in zip(s.disk, t.disk, s.told, s.job, strict=True)
            ),
            "TablesKept": lambda s, a, t: all(
                not old or new in (0, old) for old, new in zip(s.infos, t.infos, strict=True)
            ),
        }
        self.sometimes = {"all is done": lambda s: s.status == 3 and s.worker == "idle"}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody has asked."""
        zero = (0,) * self.config.ranks
        idle = ("idle",) * self.config.requesters
        waiting = ("wait",) * self.config.ranks
        state = State(
            0, (0, 0), 0, zero, zero, zero, 0, zero, idle, "poll", (0, 0), 0, waiting, zero, "idle", frozenset()
        )
        return (state,)

    def one_at_a_time(self, s: State) -> bool:
        """At most one request is under way that the manager has not taken."""
        accepted = (i for i, at in enumerate(s.asking, 1) if at in ("size", "cell 1", "cell 2", "done"))
        return sum(i not in s.served for i in accepted) <= 1

    # -- requesters ----------------------------------------------------------------------------------------------

    def look(self, s: State, i: int) -> State | None:
        """Is the status free?"""
        quiet = (
            (s.size, s.status, s.manager, s.worker) == (0, 0, "poll", "idle")
            and all(at in ("idle", "done", "refused") for at in s.asking)
            and set(s.loader) == {"wait"}
        )
        if s.asking[i - 1] != "idle" or (self.config.turns and not quiet):
            return None
        to = "refused" if s.status else "cell 1" if self.config.bytes_first else "size"
        return s._replace(asking=replaced(s.asking, i - 1, to))

    def write_size(self, s: State, i: int) -> State | None:
        """How many addresses there are."""
        if s.asking[i - 1] != "size":
            return None
        to = "done" if self.config.bytes_first else "cell 1"
        return s._replace(size=2, asking=replaced(s.asking, i - 1, to))

    def write_cell(self, s: State, i: int) -> State | None:
        """One address."""
        at = s.asking[i - 1]
        if at not in ("cell 1", "cell 2"):
            return None
        to = "cell 2" if at == "cell 1" else "size" if self.config.bytes_first else "done"
        return s._replace(cells=replaced(s.cells, int(at == "cell 2"), i), asking=replaced(s.asking, i - 1, to))

    # -- the manager ---------------------------------------------------------------------------------------------

    def _manager_steps(self) -> dict[str, Callable[[State], State | None]]:
        return {
            "See": lambda s: _when(s, "poll", "read 1") if s.size else None,
            "Read": self.read,
            "Clear": lambda s: _when(s, "clear", "start", size=0),
            "Start": lambda s: _when(s, "start", "tell", status=1, next=0, served=s.served | {s.list[0]}),
            "Tell": self.tell,
            "Gather": self.gather,
            "GiveUp": lambda s: _when(s, "gather", "declare") if self.config.gives_up else None,
            "Declare": lambda s: _when(s, "declare", "show", tensor=1),
            "Show": lambda s: _when(s, "show", "shown", status=2),
            "Reset": lambda s: _when(s, "shown", "poll", status=0) if s.status == 3 or self.config.hasty else None,
        }

    def read(self, s: State) -> State | None:
        """One address is read."""
        if s.manager not in ("read 1", "read 2"):
            return None
        cell = int(s.manager == "read 2")
        return s._replace(list=replaced(s.list, cell, s.cells[cell]), manager="clear" if cell else "read 2")

    def tell(self, s: State) -> State | None:
        """One rank is told. A message that does not arrive is only logged."""
        after = _when(s, "tell", "gather" if s.next + 1 == self.config.ranks else "tell", next=s.next + 1)
        if after is None or s.next in self.config.deaf:
            return after
        return after._replace(disk=replaced(s.disk, s.next, 1), told=replaced(s.told, s.next, s.list[0]))

    def gather(self, s: State) -> State | None:
        """All that answer have loaded, or one has failed; what follows is the same."""
        heard = {result for rank, result in enumerate(s.result) if rank not in self.config.deaf}
        return _when(s, "gather", "declare") if heard <= {1} or -1 in heard else None

    # -- loaders and the worker ----------------------------------------------------------------------------------

    def _loader_steps(self) -> dict[str, OneStep]:
        return {
            "LoadSee": lambda s, r: _load(s, r, "wait", "begin", job=s.told[r]) if s.disk[r] else None,
            "LoadBegin": lambda s, r: _load(s, r, "begin", "load", result=0),
            "LoadTable": lambda s, r: _load(s, r, "load", "report", infos=s.infos[r] if self._fails(r) else s.job[r]),
            "LoadReport": lambda s, r: _load(s, r, "report", "lower", result=-1 if self._fails(r) else 1),
            "LoadLower": lambda s, r: _load(s, r, "lower", "wait", disk=0),
        }

    def _fails(self, rank: int) -> bool:
        return rank in self.config.failing

    def _worker_steps(self) -> dict[str, Callable[[State], State | None]]:
        return {
            "WorkSee": lambda s: s._replace(tensor=0, worker="wait") if s.worker == "idle" and s.tensor else None,
            "WorkBegin": lambda s: s._replace(worker="swap") if s.worker == "wait" and all(s.infos) else None,
            "WorkEnd": lambda s: s._replace(infos=(0,) * len(s.infos), worker="tell") if s.worker == "swap" else None,
            "WorkTell": lambda s: s._replace(status=3, worker="idle") if s.worker == "tell" else None,
        }


def _when(s: State, at: str, to: str, **change: Any) -> State | None:
    return s._replace(manager=to, **change) if s.manager == at else None


def _load(s: State, rank: int, at: str, to: str, **change: int) -> State | None:
    """A step of a loader; ``change`` is about its rank."""
    if s.loader[rank] != at:
        return None
    new: dict[str, Any] = {name: replaced(getattr(s, name), rank, value) for name, value in change.items()}
    return s._replace(loader=replaced(s.loader, rank, to), **new)


@dataclass(frozen=True)
class Race:
    """A race: an environment in which it shows, and the property that fails."""

    config: Config
    violates: str


# B55 (the worker waits for ever for a table) is liveness, and left to TLC.
RACES: dict[str, Race] = {
    "P13.1": Race(Config(ranks=1, bytes_first=False), "AddressesWhole"),
    "P13.2": Race(Config(ranks=1, requesters=2, turns=False), "OneAtATime"),
    "P13.3": Race(Config(ranks=1, requesters=2, turns=False), "NotErased"),
    "P13.4": Race(Config(ranks=1, requesters=2, turns=False, gives_up=True, hasty=True), "FlagKept"),
    "P13.5": Race(Config(ranks=1, requesters=2), "LoadedByAll"),
    "P13.6": Race(Config(deaf=frozenset({1})), "AllTold"),
    "P13.7": Race(Config(ranks=1, failing=frozenset({0})), "NoFailedUpdate"),
    "P13.8": Race(Config(ranks=1, hasty=True), "NoReset"),
    "P13.11": Race(Config(ranks=1, requesters=2, turns=False, hasty=True), "TablesKept"),
}
