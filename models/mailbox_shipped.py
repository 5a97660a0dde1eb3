"""The results of one request as FastDeploy sends them: ``tla/mailbox/MailboxShipped.tla``, one access at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Action, Model, once

__all__ = ("RACES", "Config", "MailboxShipped", "Race", "State")


class State(NamedTuple):
    """All variables of the specification."""

    token: str
    handler: str
    known: bool
    made: int
    cached: tuple[int, ...]
    sent: tuple[int, ...]
    gone: bool
    swallowed: bool


@dataclass(frozen=True)
class Config:
    """Constants of the specification."""

    max_items: int = 2
    capacity: int = 2
    handle_comes: str = "first"
    dies: bool = False

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the specification."""
        return {
            "MaxItems": self.max_items,
            "Capacity": self.capacity,
            "HandleComes": self.handle_comes,
            "Dies": self.dies,
        }


class MailboxShipped(Model[State]):
    """The token thread and the handle thread of one server."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "mailbox as shipped"
        steps: dict[str, Callable[[State], State | None]] = {
            "Look": self.look,
            "Append1": self.append,
            "Send": self.send,
            "Drop": self.drop,
            "Store": self.store,
            "LookCache": self.look_cache,
            "Flush": self.flush,
            "DropHandle": self.drop_handle,
            "Die": self.die,
        }
        self.actions = {name: partial(once, name, step) for name, step in steps.items()}
        self.invariants = self._invariants()
        self.action_properties: dict[str, Callable[[State, Action, State], bool]] = {}
        self.sometimes = {"all has been sent": lambda s: len(s.sent) == self.config.max_items}
        if self.config.handle_comes == "never":
            self.sometimes = {}
        self.sometimes_steps: dict[str, Callable[[State, Action, State], bool]] = {}

    def initial(self) -> Iterable[State]:
        """Nothing was put, and no handle has come."""
        handler = "done" if self.config.handle_comes == "never" else "wait"
        return (State("idle", handler, False, 0, (), (), False, False),)

    def _invariants(self) -> dict[str, Callable[[State], bool]]:
        most = self.config.max_items

        def all_sent(s: State) -> bool:
            at_rest = s.handler == "done" and s.token in ("idle", "end") and s.made == most
            asked = self.config.handle_comes != "never"
            return s.sent == tuple(range(1, most + 1)) if at_rest and asked and not s.gone else True

        return {
            "TypeOK": lambda s: 0 <= s.made <= most,
            "AllSent": all_sent,
            "NothingSwallowed": lambda s: not s.swallowed,
            "Bounded": lambda s: len(s.cached) <= self.config.capacity,
        }

    def _deliver(self, s: State, items: tuple[int, ...]) -> State:
        return s._replace(sent=s.sent if s.gone else s.sent + items, swallowed=s.swallowed or s.gone)

    # -- the token thread ----------------------------------------------------------------------------------------

    def look(self, s: State) -> State | None:
        """A result has come: is there a handle?"""
        if s.token != "idle" or s.made >= self.config.max_items:
            return None
        if s.handler == "wait" and self.config.handle_comes == "first":
            return None
        return s._replace(made=s.made + 1, token="send" if s.known else "append")

    def append(self, s: State) -> State | None:
        """There was none: the result is kept."""
        return s._replace(cached=(*s.cached, s.made), token="idle") if s.token == "append" else None

    def send(self, s: State) -> State | None:
        """There was one: all goes out."""
        return self._deliver(s, (*s.cached, s.made))._replace(token="drop") if s.token == "send" else None

    def drop(self, s: State) -> State | None:
        """The cache is emptied; after the last result the handle is dropped."""
        if s.token != "drop":
            return None
        last = s.made == self.config.max_items
        return s._replace(cached=(), known=s.known and not last, token="end" if last else "idle")

    # -- the handle thread ---------------------------------------------------------------------------------------

    def store(self, s: State) -> State | None:
        """A handle has come."""
        if s.handler != "wait" or (self.config.handle_comes == "first" and s.made):
            return None
        return s._replace(known=True, handler="look")

    def look_cache(self, s: State) -> State | None:
        """Does the cache end with the last result?"""
        if s.handler != "look":
            return None
        ends = bool(s.cached) and s.cached[-1] == self.config.max_items
        return s._replace(handler="flush" if ends else "done")

    def flush(self, s: State) -> State | None:
        """Send what is cached."""
        return self._deliver(s, s.cached)._replace(handler="drop") if s.handler == "flush" else None

    def drop_handle(self, s: State) -> State | None:
        """The cache is emptied, and the handle dropped."""
        return s._replace(cached=(), known=False, handler="done") if s.handler == "drop" else None

    def die(self, s: State) -> State | None:
        """The client is gone."""
        return s._replace(gone=True) if self.config.dies and not s.gone else None


@dataclass(frozen=True)
class Race:
    """An environment in which a race shows, and the property that fails."""

    config: Config
    violates: str


RACES: dict[str, Race] = {
    "mailbox-look-append": Race(Config(handle_comes="any"), "AllSent"),
    "B75": Race(Config(dies=True), "NothingSwallowed"),
    "B72": Race(Config(capacity=1, handle_comes="never"), "Bounded"),
}
