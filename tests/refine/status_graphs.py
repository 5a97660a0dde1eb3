"""The status protocol, as specified and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import status_shipped as shipped
from models.graph import Difference, Named, build, compare, named
from models.status import Config, Guards, Reported, State, Status
from models.status_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = (
    "FAULTY",
    "FIXED",
    "LARGE",
    "SHIPPED",
    "SHIPPED_LARGE",
    "UNGUARDED",
    "compared",
    "compared_shipped",
    "spec_graph",
)

R = frozenset[int]

# It has every action.
FIXED: dict[str, Config] = {
    "2 stages, a part comes back": Config(components=2, max_asked=1, mortal=R({0})),
}
LARGE: dict[str, Config] = {
    "1 component, 2 parts, 2 requests": Config(parts=2, max_asked=2, mortal=R({0})),
    "weights, cache and tree": Config(components=3, per_stage=2, parts=2, without=R({5}), max_asked=1),
    "3 stages, of which one is empty": Config(components=6, per_stage=2, without=R({1, 2, 3, 5}), max_asked=2),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(components=2, max_asked=2, mortal=R({0}), guards=Guards.without(*Guards.names()))

SHIPPED: dict[str, shipped.Config] = {
    "2 transfer ranks": shipped.Config(movers=2, max_asked=2, calm=False, may_give_up=True, cross_wait=True),
}
SHIPPED_LARGE: dict[str, shipped.Config] = {
    "2 worker ranks, 1 transfer rank": shipped.Config(
        workers=2, movers=1, max_asked=2, calm=False, may_give_up=True, write_back=True
    ),
    "a clear raises": shipped.Config(movers=2, max_asked=2, calm=False, may_give_up=True, failing=R({1})),
    "the tree first": shipped.Config(movers=1, max_asked=2, calm=False, may_give_up=True, tree_first=True),
    "the tree's thread dies": shipped.Config(movers=1, max_asked=2, calm=False, may_give_up=True, tree_dies=True),
}


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


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    of_worker = {name: function(state[name], len(state["pcW"])) for name in ("pcW", "seen")}
    of_mover = {name: function(state[name], len(state["pcS"])) for name in ("pcS", "ready", "paused")}
    return shipped.State(**{**state, **of_worker, **of_mover})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Status.tla``."""
    return tlc_graph("status/Status.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Status(config))))


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """Return TLC's graph of ``StatusShipped.tla``, and what the model's graph lacks or has too much."""
    constants, fields = config.constants(), shipped.State._fields
    wanted = tlc_graph("status/StatusShipped.tla", constants, fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.StatusShipped(config))))
