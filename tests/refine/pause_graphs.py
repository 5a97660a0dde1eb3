"""The pause protocol under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.graph import Difference, Named, build, compare, named
from models.pause import Config, Guards, Pause, State
from models.pause_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "UNGUARDED", "compared")

R = frozenset[int]

# Together every action and every mode.
FIXED: dict[str, Config] = {
    "2 ranks, 2 clients": Config(clients=2, leavers=R({1}), mortal=R({0}), impatient=R({2})),
    "1 rank, 2 clients, all modes": Config(ranks=1, clients=2, max_orders=3, modes=R({0, 1, 2}), leavers=R({0})),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(mortal=R({0}), modes=R({0, 1}), guards=Guards.without(*Guards.names()))


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks = len(state["status"])
    by_rank = {name: function(state[name], ranks) for name in ("status", "seen", "gate", "told", "running", "parked")}
    by_client = {name: tuple(state[name]) for name in ("waiting", "awaited")}
    sets = {name: frozenset(state[name]) for name in ("quiet", "holders")}
    return State(**{**state, **by_rank, **by_client, **sets})


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph of ``Pause.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("pause/Pause.tla", config.constants(), State._fields, decode)
    return wanted, compare(wanted, named(build(Pause(config))))
