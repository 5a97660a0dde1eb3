"""A name for shared memory without a word about how: the twin of ``tla/common/Segments.tla``, and signal's image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from models import signal_state as signal
from models.kernel import Action, Model, Step, replaced

__all__ = ("Config", "Segments", "State", "abstract", "image")

NONE, ALIEN = 0, -1


class State(NamedTuple):
    """All variables of the spec."""

    current: int
    owner: tuple[frozenset[int], ...]
    user: tuple[frozenset[int], ...]
    told: frozenset[int]


Steps: TypeAlias = Iterator[Step[State]]


@dataclass(frozen=True)
class Config:
    """Constants of the spec: actors are ``0 .. actors-1``, segments are ``1 .. things``."""

    actors: int = 2
    things: int = 2
    bold: frozenset[int] = frozenset()

    def constants(self) -> dict[str, frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "Actors": frozenset(range(self.actors)),
            "Things": frozenset(range(1, self.things + 1)),
            "Bold": self.bold,
        }


class Segments(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "segments"
        self.actors = range(self.config.actors)
        self.things = range(1, self.config.things + 1)
        self.actions = {
            "Make": self.make,
            "Use": self.use,
            "Remove": self.remove,
            "Forget": self.forget,
            "Die": self.die,
            "Intrude": self.intrude,
        }
        self.invariants = {
            "OneOwner": lambda s: sum(len(held - s.told) for held in s.owner) <= 1,
            "HoldersCanKnow": lambda s: all(held <= s.told | {s.current} for held in (*s.owner, *s.user)),
        }
        self.action_properties = {}
        self.sometimes = {"a holder was told": lambda s: any(held & s.told for held in s.user)}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """The name leads to nothing."""
        nothing = (frozenset[int](),) * self.config.actors
        return (State(NONE, nothing, nothing, frozenset()),)

    def _gone(self, s: State) -> frozenset[int]:
        return s.told | {s.current} if s.current in self.things else s.told

    def make(self, s: State) -> Steps:
        """A new segment, over nothing, over what nobody else owns, or boldly."""
        held = frozenset[int]().union(*s.owner, *s.user, s.told)
        for a in self.actors:
            others = any(s.current in s.owner[b] for b in self.actors if b != a)
            if a not in self.config.bold and (s.current == ALIEN or others):
                continue
            for t in self.things:
                if t != s.current and t not in held:
                    after = s._replace(current=t, owner=replaced(s.owner, a, s.owner[a] | {t}), told=self._gone(s))
                    yield Action("Make", (("actor", a), ("thing", t))), after

    def use(self, s: State) -> Steps:
        """An attach."""
        for a in self.actors:
            if s.current not in self.things or s.current in s.user[a]:
                continue
            yield Action("Use", (("actor", a),)), s._replace(user=replaced(s.user, a, s.user[a] | {s.current}))

    def remove(self, s: State) -> Steps:
        """A clear."""
        for a in self.actors:
            if s.current in s.owner[a]:
                yield Action("Remove", (("actor", a),)), s._replace(current=NONE, told=self._gone(s))

    def forget(self, s: State) -> Steps:
        """A close."""
        for a in self.actors:
            for t in self.things:
                action = Action("Forget", (("actor", a), ("thing", t)))
                if t in s.owner[a]:
                    yield action, s._replace(owner=replaced(s.owner, a, s.owner[a] - {t}))
                if t in s.user[a]:
                    yield action, s._replace(user=replaced(s.user, a, s.user[a] - {t}))

    def die(self, s: State) -> Steps:
        """An actor is gone with all that it held."""
        nothing = frozenset[int]()
        for a in self.actors:
            if not s.owner[a] | s.user[a]:
                continue
            after = s._replace(owner=replaced(s.owner, a, nothing), user=replaced(s.user, a, nothing))
            yield Action("Die", (("actor", a),)), after

    def intrude(self, s: State) -> Steps:
        """Something that is no segment is at the name."""
        if s.current == NONE:
            yield Action("Intrude"), s._replace(current=ALIEN)


def abstract(config: signal.Config) -> Segments:
    """Return what the signal model must refine."""
    return Segments(Config(config.processes, config.files, config.insisters))


def image(s: signal.State) -> State:
    """Return what an abstract observer sees: a create at its Publish, an attach at its Open, a clear at its Unlink."""
    foreign = s.name and s.content[s.name - 1] == "foreign"
    owner = tuple(held - ({made} - {s.name}) for held, made in zip(s.owned, s.made, strict=True))
    user = tuple(held | _opened(s, p) for p, held in enumerate(s.attached))
    told = frozenset(i for i, mark in enumerate(s.mark, 1) if mark and i != s.name)
    return State(ALIEN if foreign else s.name, owner, user, told)


def _opened(s: signal.State, p: int) -> frozenset[int]:
    file = s.seen[p]
    opened = s.pc[p] in ("check", "attach-leave") and file != signal.NOTHING and s.content[file - 1] == "whole"
    return frozenset({file}) if opened else frozenset()
