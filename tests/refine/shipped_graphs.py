"""The shipped dispatch under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.dispatch_shipped import Config, DispatchShipped, Put, State, Words
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("MORE", "SHIPPED", "compared", "decode", "spec_graph")

R = frozenset[int]

# Finite ones only: without Barrier, or with IdleGets, a rank may take one batch again and again.
SHIPPED: dict[str, Config] = {
    "1 rank, clear and crash": Config(
        ranks=1, max_calls=2, clearers=R({0, 1}), max_clears=1, mortal=R({0}), lower_inside=False
    ),
    "1 rank, 2 producers": Config(ranks=1, producers=2, mortal=R({1}), killed_holding=True),
    "2 ranks, two addresses": Config(one_address=False, clearers=R({2}), max_clears=2, mortal=R({1}), max_calls=2),
    "3 ranks": Config(ranks=3, max_calls=3),
}

# More of the same, for long runs.
MORE: dict[str, Config] = {
    "2 ranks, clear and crash": Config(max_calls=1, clearers=R({0, 2}), max_clears=1, mortal=R({0, 2})),
    "3 ranks, clear and crash": Config(ranks=3, max_calls=1, clearers=R({3}), max_clears=1, mortal=R({1})),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks, processes = len(state["flags"]), len(state["pc"])
    return State(
        lock=state["lock"],
        tasks=state["tasks"],
        flags=function(state["flags"], ranks),
        exist=Words(**state["exist"]),
        pc=function(state["pc"], processes),
        mine=function({producer - ranks: id_ for producer, id_ in _items(state["mine"])}, processes - ranks),
        told=state["told"],
        calls=state["calls"],
        alive=function(state["alive"], processes),
        got=function(state["got"], ranks),
        puts=tuple(Put(**put) for put in state["puts"]),
        clears=function(state["clears"], processes),
        wiped=state["wiped"],
    )


def _items(value: Any) -> list[tuple[int, int]]:
    """The pairs of a function. One over 1 .. n is a sequence to TLC, and it prints it as such."""
    if isinstance(value, tuple):
        return list(enumerate(value, 1))
    return [(key, value[key]) for key in value]


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``DispatchShipped.tla``."""
    return tlc_graph("dispatch/DispatchShipped.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(DispatchShipped(config))))
