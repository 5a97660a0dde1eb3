"""The status protocol under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.graph import Difference, Named, build, compare, named
from models.status import Config, Guards, Reported, State, Status
from models.status_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "UNGUARDED", "compared")

R = frozenset[int]

FIXED: dict[str, Config] = {
    "1 component, 2 parts, 2 requests": Config(parts=2, max_asked=2, mortal=R({0})),
    "2 stages": Config(components=2, max_asked=2),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(components=2, max_asked=2, mortal=R({0}), guards=Guards.without(*Guards.names()))


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    components = len(state["word"])
    flat: dict[str, Any] = {name: function(state[name], components) for name in ("word", "partial")}
    deep: dict[str, Any] = {
        name: tuple(function(row, len(row)) for row in function(state[name], components))
        for name in ("status", "doing", "holds")
    }
    return State(
        asked=state["asked"],
        goals=tuple(state["goals"]),
        outcome=tuple(state["outcome"]),
        changing=frozenset(state["changing"]),
        reports=tuple(frozenset(Reported(**r) for r in rs) for rs in function(state["reports"], components)),
        **flat,
        **deep,
    )


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph of ``Status.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("status/Status.tla", config.constants(), State._fields, decode)
    return wanted, compare(wanted, named(build(Status(config))))
