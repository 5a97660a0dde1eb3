"""The control protocol under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.control import Config, Control, Given, Guards, State
from models.control_bugs import BUGS
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "UNGUARDED", "compared")

R = frozenset[int]

FIXED: dict[str, Config] = {
    "1 rank, 2 requests": Config(ranks=1, max_asked=2, leavers=R({0}), mortal=R({0}), silent=R({0})),
    "2 ranks, 1 request": Config(leavers=R({1}), mortal=R({0}), silent=R({1})),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(mortal=R({0}), max_asked=2, guards=Guards.without(*Guards.names()))


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


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph of ``Control.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("control/Control.tla", config.constants(), State._fields, decode)
    return wanted, compare(wanted, named(build(Control(config))))
