"""The FMQ queue as FastDeploy makes it (``tla/fmq/FmqShipped.tla``): what was sent is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from models.kernel import Model, Step, each, once, replaced
from models.shipped_race import Race

__all__ = ("RACES", "Config", "FmqShipped", "State")

Steps: TypeAlias = "Iterator[Step[State]]"
_NOTHING: frozenset[int] = frozenset()


class State(NamedTuple):
    """All variables of the spec. Consumers are 1 and 2: consumer 1 is entry 0 of the inboxes."""

    sent: int = 0
    live: bool = True
    there: frozenset[int] = _NOTHING
    alive: frozenset[int] = _NOTHING
    path: int = 0
    inbox: tuple[tuple[int, ...], ...] = ((), ())
    got: frozenset[int] = _NOTHING
    empty: frozenset[int] = _NOTHING
    lost: frozenset[int] = _NOTHING
    closed: bool = False


@dataclass(frozen=True)
class Config:
    """Constants of the spec, in its order: what the environment does."""

    max_sent: int = 2
    large: frozenset[int] = frozenset({1})
    bad: frozenset[int] = _NOTHING
    exits: bool = False
    kills: bool = False
    second: bool = False

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "MaxSent": self.max_sent,
            "Large": self.large,
            "Bad": self.bad,
            "Exits": self.exits,
            "Kills": self.kills,
            "Second": self.second,
        }


RACES: dict[str, Race[Config]] = {
    "payload-lost": Race(Config(exits=True), "PayloadThere"),
    "path-stolen": Race(Config(second=True), "OneServes"),
    "one-bad-message": Race(Config(bad=frozenset({1}), large=_NOTHING), "StaysOpen"),
    "sent-is-forgotten": Race(Config(kills=True), "NothingLost"),
}


class FmqShipped(Model[State]):
    """Next-state relation under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "fmq as shipped"
        self.actions = {
            "Put": lambda s: once("Put", self._put, s),
            "Exit": lambda s: once("Exit", self._exit, s),
            "Start": lambda s: self._each("Start", self._start, s),
            "Get": lambda s: self._each("Get", self._get, s),
            "Fail": lambda s: self._each("Fail", self._fail, s),
            "Kill": lambda s: self._each("Kill", self._kill, s),
        }
        self.invariants = {
            "TypeOK": lambda s: s.there <= self.config.large and (not s.path or s.path in s.alive),
            "PayloadThere": lambda s: not s.empty,
            "OneServes": lambda s: len(s.alive) <= 1,
            "StaysOpen": lambda s: not s.closed,
            "NothingLost": lambda s: not s.lost,
        }
        self.action_properties = {}
        self.sometimes = {"everything was given": lambda s: len(s.got) == self.config.max_sent}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody serves the path."""
        return (State(),)

    @staticmethod
    def _each(name: str, step: Callable[[State, int], State | None], s: State) -> Steps:
        return each(name, "c", (1, 2), step, s)

    def _put(self, s: State) -> State | None:
        number = s.sent + 1
        if not s.live or s.sent >= self.config.max_sent or not s.path:
            return None
        return s._replace(
            sent=number,
            there=s.there | ({number} & self.config.large),
            inbox=replaced(s.inbox, s.path - 1, (*s.inbox[s.path - 1], number)),
        )

    def _exit(self, s: State) -> State | None:
        return s._replace(live=False, there=_NOTHING) if self.config.exits and s.live else None

    def _start(self, s: State, c: int) -> State | None:
        if c in s.alive or (c == 2 and not self.config.second) or (c == 1 and s.alive):
            return None
        return s._replace(alive=s.alive | {c}, path=c)

    def _get(self, s: State, c: int) -> State | None:
        if c not in s.alive or not s.inbox[c - 1] or s.inbox[c - 1][0] in self.config.bad:
            return None
        number, *rest = s.inbox[c - 1]
        bare = number in self.config.large - s.there
        return s._replace(
            inbox=replaced(s.inbox, c - 1, tuple(rest)),
            got=s.got if bare else s.got | {number},
            empty=s.empty | {number} if bare else s.empty,
            there=s.there - {number},
        )

    def _fail(self, s: State, c: int) -> State | None:
        if c not in s.alive or not s.inbox[c - 1] or s.inbox[c - 1][0] not in self.config.bad:
            return None
        return _gone(s, c)._replace(lost=s.lost | set(s.inbox[c - 1][1:]), closed=True)

    def _kill(self, s: State, c: int) -> State | None:
        if not self.config.kills or c not in s.alive:
            return None
        return _gone(s, c)._replace(lost=s.lost | set(s.inbox[c - 1]))


def _gone(s: State, c: int) -> State:
    return s._replace(alive=s.alive - {c}, path=0 if s.path == c else s.path, inbox=replaced(s.inbox, c - 1, ()))
