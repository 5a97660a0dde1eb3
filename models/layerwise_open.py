"""Two processes open the segments of the progress words at once (``tla/layerwise/LayerOpen.tla``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from models.kernel import Action, Model, Step, replaced

__all__ = ("Config", "LayerOpen", "State")


class State(NamedTuple):
    """All variables of the spec; parties and names count from 1 there, and from 0 here."""

    named: tuple[int, ...]
    made: int
    has: tuple[tuple[int, ...], ...]
    at: tuple[int, ...]
    pc: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    parties: int = 2
    names: int = 2
    mortal: frozenset[int] = frozenset({1})
    own_name: bool = True
    exclusive: bool = True

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "Parties": self.parties,
            "Names": self.names,
            "Mortal": self.mortal,
            "OwnName": self.own_name,
            "Exclusive": self.exclusive,
        }


class LayerOpen(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "opening the progress words"
        self.actions = {"Look": self.look, "Attach": self.attach, "Create": self.create, "Die": self.die}
        self.invariants = {"OneSegment": self.one_segment, "NobodyFails": lambda s: "failed" not in s.pc}
        self.action_properties = {}
        self.sometimes = {"all have all": lambda s: all(at > self.config.names for at in s.at)}
        self.sometimes_steps = {
            "a creator is late": lambda s, a, t: a.name == "Create" and t.pc != s.pc and t.made == s.made
        }

    def initial(self) -> Iterable[State]:
        """Nothing is there."""
        none = (0,) * self.config.names
        parties = self.config.parties
        return (State(none, 0, (none,) * parties, (1,) * parties, ("look",) * parties),)

    def _at(self, s: State, pc: str) -> Iterator[tuple[int, int]]:
        for party in range(self.config.parties):
            if s.pc[party] == pc and s.at[party] <= self.config.names:
                yield party, s.at[party] - 1

    def look(self, s: State) -> Iterator[Step[State]]:
        """Is it there?"""
        for party, name in self._at(s, "look"):
            found = s.named[name if self.config.own_name else 0]
            pc = "attach" if found else "create"
            yield Action("Look", (("p", party + 1),)), s._replace(pc=replaced(s.pc, party, pc))

    def _opened(self, s: State, party: int, name: int, segment: int) -> State:
        return s._replace(
            has=replaced(s.has, party, replaced(s.has[party], name, segment)),
            at=replaced(s.at, party, s.at[party] + 1),
            pc=replaced(s.pc, party, "look"),
        )

    def attach(self, s: State) -> Iterator[Step[State]]:
        """Attach to what the name stands for."""
        for party, name in self._at(s, "attach"):
            label = Action("Attach", (("p", party + 1),))
            if s.named[name]:
                yield label, self._opened(s, party, name, s.named[name])
            else:
                yield label, s._replace(pc=replaced(s.pc, party, "failed"))

    def create(self, s: State) -> Iterator[Step[State]]:
        """Make it; what is there by now is attached to instead."""
        for party, name in self._at(s, "create"):
            label = Action("Create", (("p", party + 1),))
            if self.config.exclusive and s.named[name]:
                yield label, s._replace(pc=replaced(s.pc, party, "look"))
            else:
                segment = s.made + 1
                after = s._replace(made=segment, named=replaced(s.named, name, segment))
                yield label, self._opened(after, party, name, segment)

    def die(self, s: State) -> Iterator[Step[State]]:
        """A process dies. What it has made stays."""
        for party in range(self.config.parties):
            if party + 1 in self.config.mortal and s.pc[party] not in ("dead", "failed"):
                yield Action("Die", (("p", party + 1),)), s._replace(pc=replaced(s.pc, party, "dead"))

    def one_segment(self, s: State) -> bool:
        """Whoever has a segment has the one that the name stands for."""
        return all(segment in (0, named) for has in s.has for segment, named in zip(has, s.named, strict=True))
