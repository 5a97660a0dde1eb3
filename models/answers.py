"""What it means to collect answers; the twin of ``tla/common/Answers.tla``.

A request is answered by each party at most once, and has one fate: held with all answers, or called off before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from models.kernel import Action, Model, Step, replaced

__all__ = ("HELD", "OFF", "OPEN", "Answers", "Config", "State")

OPEN, HELD, OFF = "open", "held", "off"


class State(NamedTuple):
    """All variables of the spec; requests are 1, 2, ... and positions 0, 1, ..."""

    given: tuple[frozenset[int], ...]
    fate: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """Parties 0 .. parties-1, requests 1 .. requests, of which ``open`` may be under way."""

    parties: int = 2
    requests: int = 2
    open: int = 2

    def constants(self) -> dict[str, int | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "Parties": frozenset(range(self.parties)),
            "Requests": frozenset(range(1, self.requests + 1)),
            "Open": self.open,
        }


Steps: TypeAlias = Iterator[Step[State]]


class Answers(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.name = "answers"
        self.config = config = config or Config()
        self.everyone = frozenset(range(config.parties))
        self.actions = {"Give": self.give, "Hold": self.hold, "CallOff": self.call_off}
        self.invariants = {
            "AllOrNothing": lambda s: all(
                fate == OPEN or (fate == HELD) == (given == self.everyone)
                for given, fate in zip(s.given, s.fate, strict=True)
            ),
            "Bounded": lambda s: len(self.under_way(s)) <= config.open,
        }
        self.action_properties = {}
        self.sometimes = {
            "everything was held": lambda s: set(s.fate) == {HELD},
            "something was called off": lambda s: OFF in s.fate,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody has answered."""
        return (State((frozenset(),) * self.config.requests, (OPEN,) * self.config.requests),)

    def under_way(self, s: State) -> list[int]:
        """Positions of the requests that somebody has answered and that are not over."""
        return [q for q, (given, fate) in enumerate(zip(s.given, s.fate, strict=True)) if given and fate == OPEN]

    def give(self, s: State) -> Steps:
        """A party answers a request."""
        room = len(self.under_way(s)) < self.config.open
        for q, (given, fate) in enumerate(zip(s.given, s.fate, strict=True)):
            if fate == OPEN and (given or room):
                for party in sorted(self.everyone - given):
                    action = Action("Give", (("party", party), ("request", q + 1)))
                    yield action, s._replace(given=replaced(s.given, q, given | {party}))

    def hold(self, s: State) -> Steps:
        """All answers are taken together."""
        yield from self._over(s, "Hold", HELD, lambda given: given == self.everyone)

    def call_off(self, s: State) -> Steps:
        """A request that not all have answered is over."""
        yield from self._over(s, "CallOff", OFF, lambda given: bool(given) and given != self.everyone)

    def _over(self, s: State, name: str, fate: str, may: Callable[[frozenset[int]], bool]) -> Steps:
        for q, given in enumerate(s.given):
            if s.fate[q] == OPEN and may(given):
                action = Action(name, (("request", q + 1),))
                yield action, s._replace(fate=replaced(s.fate, q, fate))
