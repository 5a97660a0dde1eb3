"""The steps of a create, from the guard to the published name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from models.kernel import replaced
from models.signal_state import NOBODY, NOTHING, Config, State

__all__ = ("Create", "Place")

_EARLY = ("wait", "retry", "examine", "tidy", "make")
_EXAMINED = ("tidy", "make", "allocate", "fill", "lock", "publish")


@dataclass(frozen=True)
class Place:
    """How many files there are, and how many the creates under way will still make."""

    config: Config
    state: State

    @property
    def free(self) -> bool:
        """There is one file more than these may make."""
        return self.used + self.pending + self.second < self.config.files

    @property
    def used(self) -> int:
        """Files that were made."""
        return sum(kind != "none" for kind in self.state.content)

    @property
    def pending(self) -> int:
        """Creates that have not made theirs."""
        return sum(step in _EARLY for step in self.state.pc)

    @property
    def second(self) -> int:
        """Creates that other software may force to make theirs a second time."""
        s = self.state
        if not self.config.foreign:
            return 0
        return sum(s.insist[p] and s.seen[p] == NOTHING and step in _EXAMINED for p, step in enumerate(s.pc))


class Create:
    """Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.guards = config.guards

    def steps(self) -> dict[str, Callable[[State, int], State | None]]:
        """Return the actions, in the contract's order."""
        return {
            "TakeGuard": self.take_guard,
            "Examine": self.examine,
            "DropTemp": self.drop_temp,
            "MakeTemp": self.make_temp,
            "Allocate": self.allocate,
            "NoSpace": self.no_space,
            "Fill": self.fill,
            "TakeLock": self.take_lock,
            "Supersede": self.supersede,
            "Publish": self.publish,
        }

    def take_guard(self, s: State, p: int) -> State | None:
        """A create, or a clear, comes in."""
        if s.pc[p] not in ("wait", "clear-wait"):
            return None
        step = "examine" if s.pc[p] == "wait" else "look"
        if not self.guards.GuardTaken:
            return s._replace(pc=replaced(s.pc, p, step))
        if s.guard != NOBODY or s.shared:
            return None
        return s._replace(guard=p, pc=replaced(s.pc, p, step))

    def examine(self, s: State, p: int) -> State | None:
        """What is at the name, and does somebody live own it? A mark there was left by a replace that died."""
        if s.pc[p] != "examine":
            return None
        there = s.name
        foreign = bool(there) and s.content[there - 1] == "foreign"
        live = bool(there) and s.lock[there - 1] != NOBODY and there not in s.owned[p]
        refused = self.guards.OwnerChecked and (foreign or live) and not s.insist[p]
        go = "leave" if refused else "tidy" if self.guards.TempDropped else "make"
        after = s._replace(seen=replaced(s.seen, p, there), pc=replaced(s.pc, p, go))
        if there and s.content[there - 1] == "whole":
            free = s.lock[there - 1] == NOBODY
            after = after._replace(
                lock=replaced(s.lock, there - 1, p) if free else s.lock,
                mark=replaced(s.mark, there - 1, 0),
            )
        return after

    def drop_temp(self, s: State, p: int) -> State | None:
        """The other name goes."""
        after = {"retry": "examine", "tidy": "make", "finish": "leave"}.get(s.pc[p])
        return None if after is None else s._replace(temp=NOTHING, pc=replaced(s.pc, p, after))

    def _before_publish(self, s: State, p: int) -> str:
        seen = s.seen[p]
        told = self.guards.Supersedes and bool(seen) and s.content[seen - 1] == "whole"
        return "supersede" if told else "publish"

    def make_temp(self, s: State, p: int) -> State | None:
        """A new file under the other name."""
        file = Place(self.config, s).used + 1
        if s.pc[p] != "make" or s.temp or file > self.config.files:
            return None
        return s._replace(
            temp=file,
            made=replaced(s.made, p, file),
            content=replaced(s.content, file - 1, "empty"),
            pc=replaced(s.pc, p, "allocate" if self.guards.FillFirst else self._before_publish(s, p)),
        )

    def allocate(self, s: State, p: int) -> State | None:
        """It has its size, and the file system has the room."""
        if s.pc[p] != "allocate":
            return None
        return s._replace(content=replaced(s.content, s.made[p] - 1, "blank"), pc=replaced(s.pc, p, "fill"))

    def no_space(self, s: State, p: int) -> State | None:
        """The file system is full."""
        if s.pc[p] != "allocate" or not self.config.full:
            return None
        return s._replace(pc=replaced(s.pc, p, "finish"))

    def fill(self, s: State, p: int) -> State | None:
        """Array and trailer are written."""
        if s.pc[p] != "fill":
            return None
        return s._replace(
            content=replaced(s.content, s.made[p] - 1, "whole"),
            owned=replaced(s.owned, p, s.owned[p] | {s.made[p]}),
            pc=replaced(s.pc, p, "lock" if self.guards.LockFirst else self._before_publish(s, p)),
        )

    def take_lock(self, s: State, p: int) -> State | None:
        """The owner's lock, for life."""
        if s.pc[p] not in ("lock", "late-lock"):
            return None
        file = s.made[p] - 1
        after = s._replace(lock=replaced(s.lock, file, p) if s.lock[file] == NOBODY else s.lock)
        if s.pc[p] == "late-lock":
            return after._replace(made=replaced(s.made, p, NOTHING), pc=replaced(s.pc, p, "idle"))
        return after._replace(pc=replaced(s.pc, p, self._before_publish(s, p) if self.guards.FillFirst else "finish"))

    def supersede(self, s: State, p: int) -> State | None:
        """Who holds the old segment is told."""
        if s.pc[p] != "supersede":
            return None
        return s._replace(mark=replaced(s.mark, s.seen[p] - 1, s.made[p]), pc=replaced(s.pc, p, "publish"))

    def publish(self, s: State, p: int) -> State | None:
        """The name leads to the new file: a link where nothing was, a rename over what was seen."""
        if s.pc[p] != "publish":
            return None
        full = self.guards.FillFirst
        if s.seen[p] or not self.guards.LinkFirst:
            return s._replace(
                name=s.temp or s.name,
                temp=NOTHING,
                pc=replaced(s.pc, p, "leave" if full else "allocate"),
            )
        if s.name == NOTHING:
            return s._replace(name=s.temp, pc=replaced(s.pc, p, "finish" if full else "allocate"))
        file = s.made[p]
        return s._replace(
            pc=replaced(s.pc, p, "retry"),
            made=replaced(s.made, p, NOTHING),
            owned=replaced(s.owned, p, s.owned[p] - {file}),
            lock=replaced(s.lock, file - 1, NOBODY) if s.lock[file - 1] == p else s.lock,
        )
