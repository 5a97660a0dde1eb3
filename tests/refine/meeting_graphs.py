"""The meeting under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.graph import Difference, Named, build, compare, named
from models.meeting import Meeting
from models.meeting_bugs import BUGS
from models.meeting_state import Config, Mem, State
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "SMALL", "compared")

R = frozenset[int]

# Small enough for TLC to dump in a few seconds, and together every action.
FIXED: dict[str, Config] = {
    "one of two may give up, the other be killed": Config(timed=R({0}), mortal=R({1})),
    "another process comes": Config(ranks=1, fences=True, comes=True),
    "somebody aborts, and undoes that": Config(ranks=1, aborts=True),
    "a rank is in another round": Config(ranks=1, calls=2, parts=True),
    "another process comes, or somebody aborts": Config(ranks=1, aborts=True, fences=True, comes=True),
    "one of two may be killed": Config(mortal=R({0})),
    "somebody aborts": Config(ranks=1, calls=2, aborts=True),
    "2 labels": Config(labels=2),
    "one of two barriers is aborted, and that is undone": Config(ranks=1, places=2, aborts=True),
    "two barriers": Config(places=2),
}
SMALL = (
    "one of two may give up, the other be killed",
    "another process comes",
    "somebody aborts, and undoes that",
    "a rank is in another round",
    "one of two barriers is aborted, and that is undone",
)

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}


def _decode(state: Mapping[str, Any]) -> State:
    size = len(state["pc"])
    mem = {name: function(value, len(value)) for name, value in state["mem"].items()}
    rest = {name: function(state[name], size) for name in ("pc", "at", "stamp", "label", "do", "calls", "alive")}
    pairs = {
        name: tuple(frozenset(tuple(pair) for pair in found) for found in function(state[name], size))
        for name in ("came", "told")
    }
    stores = tuple(tuple(tuple(store) for store in stores) for stores in function(state["buf"], size))
    return State(**{**state, **rest, **pairs, "mem": Mem(**mem), "buf": stores})


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("meeting/Meeting.tla", config.constants(), State._fields, _decode)
    return wanted, compare(wanted, named(build(Meeting(config))))
