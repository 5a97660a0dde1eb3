"""IPCSignal as FastDeploy has it: memory found, removed and made by its name, and a tracker for each process tree.

The twin of ``tla/signal/SignalShipped.tla``. One step is one system call that others can see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from models.kernel import Action, Model, Step, each, replaced

__all__ = ("RACES", "Config", "Race", "SignalShipped", "State")

NOTHING = 0
_R = frozenset[int]


class State(NamedTuple):
    """All variables of the spec. Functions over the objects ``1 .. I`` have object ``i`` at index ``i - 1``."""

    name: int
    content: tuple[str, ...]
    pc: tuple[str, ...]
    seen: tuple[int, ...]
    held: tuple[int, ...]
    maker: tuple[int, ...]
    told: tuple[bool, ...]


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped use works."""

    processes: int = 2
    objects: int = 2
    creators: frozenset[int] = _R({0})
    if_missing: frozenset[int] = _R()
    attachers: frozenset[int] = _R({1})
    probers: frozenset[int] = _R()
    clearers: frozenset[int] = _R({0})
    exits: frozenset[int] = _R({1})
    restarts: frozenset[int] = _R({1})
    alone: frozenset[int] = _R()
    ordered: bool = True
    unregisters: bool = False

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "P": self.processes,
            "I": self.objects,
            "Creators": self.creators,
            "IfMissing": self.if_missing,
            "Attachers": self.attachers,
            "Probers": self.probers,
            "Clearers": self.clearers,
            "Exits": self.exits,
            "Restarts": self.restarts,
            "Alone": self.alone,
            "Ordered": self.ordered,
            "Unregisters": self.unregisters,
        }


class SignalShipped(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "signal as shipped"
        self.processes = range(self.config.processes)
        steps: dict[str, Callable[[State, int], State | None]] = {
            "Begin": self.begin,
            "Find": self.find,
            "RemoveOld": self.remove_old,
            "Make": self.make,
            "Size": self.size,
            "Fill": self.fill,
            "Open": self.open,
            "Map": self.map,
            "Probe": self.probe,
            "ClearFind": self.clear_find,
            "ClearRemove": self.clear_remove,
            "Exit": self.exit,
            "Restart": self.restart,
        }
        self.actions = {name: partial(each, name, "process", self.processes, step) for name, step in steps.items()}
        self.actions["Sweep"] = self.sweep
        self.invariants = {
            "NobodyFails": lambda s: "failed" not in s.pc,
            "OnlyWhole": lambda s: all(s.content[i - 1] == "whole" for i in s.held if i),
            "OneWorld": lambda s: len({*s.held} - {NOTHING}) <= 1,
            "NetKept": self._net_kept,
        }
        self.action_properties = {
            "LiveIsKept": lambda s, a, t: not _lost(s, t) or s.maker[s.name - 1] == a.param("process"),
            "MakingIsKept": lambda s, a, t: (
                not _lost(s, t) or s.content[s.name - 1] == "whole" or s.maker[s.name - 1] == a.param("process")
            ),
            "ClearsItsOwn": lambda s, a, t: (
                a.name != "ClearRemove" or s.name == t.name or s.name == s.held[a.params[0][1]]
            ),
        }
        self.sometimes = {"the segment is used": lambda s: any(s.held)}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """There is no memory, and nobody does anything."""
        p, i = self.config.processes, self.config.objects
        return (
            State(NOTHING, ("none",) * i, ("idle",) * p, (NOTHING,) * p, (NOTHING,) * p, (-1,) * i, (False,) * (p + 1)),
        )

    def tracker_of(self, p: int) -> int:
        """Return the tracker of a process."""
        return p if p in self.config.alone else self.config.processes

    def _tell(self, s: State, p: int, yes: bool) -> tuple[bool, ...]:
        return replaced(s.told, self.tracker_of(p), yes)

    def _net_kept(self, s: State) -> bool:
        return all(
            s.told[self.tracker_of(p)]
            for p in self.processes
            if s.pc[p] == "hold" and s.name != NOTHING and s.held[p] == s.name and s.maker[s.name - 1] == p
        )

    # -- create --------------------------------------------------------------------------------------------------

    def begin(self, s: State, p: int) -> State | None:
        """A create; one of "if it is missing" looks first."""
        used = sum(kind != "none" for kind in s.content)
        pending = sum(step in ("find", "remove", "make") for step in s.pc)
        if s.pc[p] != "idle" or p not in self.config.creators or used + pending >= self.config.objects:
            return None
        there = p in self.config.if_missing and _there(s)
        return s._replace(pc=replaced(s.pc, p, "attach" if there else "find"))

    def find(self, s: State, p: int) -> State | None:
        """Does it exist?"""
        if s.pc[p] != "find":
            return None
        if not _there(s):
            return s._replace(pc=replaced(s.pc, p, "make"))
        return s._replace(pc=replaced(s.pc, p, "remove"), told=self._tell(s, p, True))

    def remove_old(self, s: State, p: int) -> State | None:
        """What has the name goes."""
        if s.pc[p] != "remove":
            return None
        if not _there(s):
            return s._replace(pc=replaced(s.pc, p, "failed"))
        return s._replace(pc=replaced(s.pc, p, "make"), name=NOTHING, told=self._tell(s, p, False))

    def make(self, s: State, p: int) -> State | None:
        """A new object of size 0."""
        if s.pc[p] != "make":
            return None
        if s.name != NOTHING:
            return s._replace(pc=replaced(s.pc, p, "failed"))
        new = sum(kind != "none" for kind in s.content) + 1
        return s._replace(
            pc=replaced(s.pc, p, "size"),
            name=new,
            content=replaced(s.content, new - 1, "empty"),
            seen=replaced(s.seen, p, new),
            maker=replaced(s.maker, new - 1, p),
        )

    def size(self, s: State, p: int) -> State | None:
        """It has its size; the tracker is told."""
        if s.pc[p] != "size":
            return None
        content = replaced(s.content, s.seen[p] - 1, "blank")
        return s._replace(pc=replaced(s.pc, p, "fill"), content=content, told=self._tell(s, p, True))

    def fill(self, s: State, p: int) -> State | None:
        """The template is copied in."""
        if s.pc[p] != "fill":
            return None
        content = replaced(s.content, s.seen[p] - 1, "whole")
        return s._replace(pc=replaced(s.pc, p, "hold"), content=content, held=replaced(s.held, p, s.seen[p]))

    # -- attach --------------------------------------------------------------------------------------------------

    def open(self, s: State, p: int) -> State | None:
        """What is at the name?"""
        ready = s.name != NOTHING and (not self.config.ordered or s.content[s.name - 1] == "whole")
        if s.pc[p] != "attach" and not (s.pc[p] == "idle" and p in self.config.attachers and ready):
            return None
        if s.name == NOTHING:
            return s._replace(pc=replaced(s.pc, p, "failed"))
        return s._replace(pc=replaced(s.pc, p, "map"), seen=replaced(s.seen, p, s.name))

    def map(self, s: State, p: int) -> State | None:
        """It is mapped with the size that it has; the tracker is told."""
        if s.pc[p] != "map":
            return None
        if s.content[s.seen[p] - 1] == "empty":
            return s._replace(pc=replaced(s.pc, p, "failed"))
        told = self._tell(s, p, not self.config.unregisters)
        return s._replace(pc=replaced(s.pc, p, "hold"), held=replaced(s.held, p, s.seen[p]), told=told)

    def probe(self, s: State, p: int) -> State | None:
        """To ask is to attach."""
        if s.pc[p] != "idle" or p not in self.config.probers or not _there(s):
            return None
        return s._replace(told=self._tell(s, p, True))

    # -- clear, exit, tracker --------------------------------------------------------------------------------------

    def clear_find(self, s: State, p: int) -> State | None:
        """Does the name exist?"""
        if s.pc[p] != "hold" or p not in self.config.clearers:
            return None
        return s._replace(pc=replaced(s.pc, p, "clear" if _there(s) else "cleared"))

    def clear_remove(self, s: State, p: int) -> State | None:
        """The name goes, whatever it leads to."""
        if s.pc[p] != "clear":
            return None
        held = replaced(s.held, p, NOTHING)
        if s.name == NOTHING:
            return s._replace(pc=replaced(s.pc, p, "failed"), held=held)
        return s._replace(pc=replaced(s.pc, p, "cleared"), name=NOTHING, held=held, told=self._tell(s, p, False))

    def exit(self, s: State, p: int) -> State | None:
        """It exits, or is killed."""
        if p not in self.config.exits or s.pc[p] == "gone":
            return None
        return s._replace(
            pc=replaced(s.pc, p, "gone"), held=replaced(s.held, p, NOTHING), seen=replaced(s.seen, p, NOTHING)
        )

    def restart(self, s: State, p: int) -> State | None:
        """It is started again."""
        if s.pc[p] != "gone" or p not in self.config.restarts:
            return None
        return s._replace(pc=replaced(s.pc, p, "idle"))

    def sweep(self, s: State) -> Iterator[Step[State]]:
        """A tree is gone, and its tracker removes the name."""
        for t, told in enumerate(s.told):
            tree = [p for p in self.processes if self.tracker_of(p) == t]
            if told and tree and all(s.pc[p] == "gone" for p in tree):
                yield Action("Sweep", (("tracker", t),)), s._replace(told=replaced(s.told, t, False), name=NOTHING)


def _there(s: State) -> bool:
    """What can be attached: an object of size 0 cannot, and passes for missing."""
    return s.name != NOTHING and s.content[s.name - 1] != "empty"


def _lost(s: State, t: State) -> bool:
    """The name leaves an object whose maker lives."""
    if s.name in (NOTHING, t.name):
        return False
    maker = s.maker[s.name - 1]
    return s.name in (s.held[maker], s.seen[maker])


@dataclass(frozen=True)
class Race:
    """An environment in which a race shows, and the property that fails."""

    config: Config
    violates: str


_PAIR = Config(creators=_R({0, 1}), attachers=_R(), clearers=_R(), exits=_R(), restarts=_R())

RACES: dict[str, Race] = {
    "B58": Race(Config(alone=_R({1}), clearers=_R(), restarts=_R()), "LiveIsKept"),
    "C11": Race(Config(attachers=_R(), probers=_R({1}), alone=_R({1}), clearers=_R(), restarts=_R()), "LiveIsKept"),
    "B59": Race(Config(unregisters=True, exits=_R(), restarts=_R()), "NetKept"),
    "B61": Race(Config(ordered=False, exits=_R(), restarts=_R()), "NobodyFails"),
    "B69": Race(Config(ordered=False, exits=_R(), restarts=_R()), "OnlyWhole"),
    "B62": Race(_PAIR, "MakingIsKept"),
    "C12": Race(_PAIR, "LiveIsKept"),
    "B56": Race(_PAIR, "OneWorld"),
    "G10": Race(Config(exits=_R({0}), restarts=_R({0}), clearers=_R()), "OneWorld"),
    "G10_clear": Race(
        Config(creators=_R({0, 1}), attachers=_R(), clearers=_R({0}), exits=_R(), restarts=_R()), "ClearsItsOwn"
    ),
    "P12_3": Race(
        Config(creators=_R({0, 1}), if_missing=_R({0, 1}), attachers=_R(), clearers=_R(), exits=_R(), restarts=_R()),
        "LiveIsKept",
    ),
    "B99": Race(Config(attachers=_R(), clearers=_R(), exits=_R({0}), restarts=_R({0})), "NobodyFails"),
}
