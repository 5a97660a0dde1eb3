"""The control protocol, as specified and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import control_shipped as shipped
from models.control import Config, Control, Given, Guards, State
from models.control_bugs import BUGS
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "SHIPPED", "UNGUARDED", "compared", "compared_shipped", "spec_graph")

R = frozenset[int]

FIXED: dict[str, Config] = {
    "1 rank, 2 requests": Config(ranks=1, max_asked=2, leavers=R({0}), mortal=R({0}), silent=R({0})),
    "2 ranks, 1 request": Config(leavers=R({1}), mortal=R({0}), silent=R({1})),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(mortal=R({0}), max_asked=2, guards=Guards.without(*Guards.names()))

SHIPPED: dict[str, shipped.Config] = {
    "guarded": shipped.Config(),
    "everything": shipped.Config(1, 2, 1, impatient=True, failing=True, raisers=R({0})),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks = len(state["status"])
    by_rank = {name: function(state[name], ranks) for name in ("status", "served", "doing")}
    return State(
        asked=state["asked"],
        state=tuple(state["state"]),
        answers=tuple(frozenset(Given(**given) for given in answers) for answers in state["answers"]),
        without=tuple(frozenset(without) for without in state["without"]),
        **by_rank,
    )


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    ranks = len(state["pc"])
    by_rank = {name: function(state[name], ranks) for name in ("slot", "pc", "doing")}
    pipe = tuple(tuple(answers) for answers in function(state["pipe"], ranks))
    sets = {name: frozenset(state[name]) for name in ("heard", "got", "raised")}
    return shipped.State(**{**state, **by_rank, **sets, "pipe": pipe})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Control.tla``."""
    return tlc_graph("control/Control.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Control(config))))


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """The same for the shipped steps."""
    wanted = tlc_graph("control/ControlShipped.tla", config.constants(), shipped.State._fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.ControlShipped(config))))
