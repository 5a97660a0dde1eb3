"""Dispatch under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.dispatch import Call, Config, Dispatch, Entry, Guards, State
from models.dispatch_bugs import BUGS
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "MORE", "UNGUARDED", "compared", "decode", "spec_graph")

R = frozenset[int]

# Below 10,000 states each, and together every action and every option. TLC checks their properties in the run that
# dumps their graph: tla/manifest.toml lists them as MCDispatch_*, with ``graph``.
FIXED: dict[str, Config] = {
    "2 ranks, everybody comes and goes": Config(
        leavers=R({1}), mortal=R({0}), mortal_producers=R({0}), quitters=R({0})
    ),
    "2 ranks, 2 clears": Config(max_calls=3, max_epoch=2),
    "2 ranks, 2 batches retained, 2 calls at once": Config(depth=2, max_calls=3, per_producer=2),
    "1 rank, 2 producers": Config(ranks=1, producers=2, max_calls=3, mortal_producers=R({0, 1})),
    "3 ranks, crash": Config(ranks=3, mortal=R({0})),
}

# More of the same, for long runs.
MORE: dict[str, Config] = {
    "1 rank, everybody comes and goes": Config(
        ranks=1, leavers=R({0}), mortal=R({0}), mortal_producers=R({0}), quitters=R({0})
    ),
    "1 rank, 2 producers, 2 batches retained": Config(
        ranks=1, producers=2, depth=2, max_calls=3, mortal_producers=R({0})
    ),
    "2 ranks, both crash": Config(
        max_calls=1, leavers=R({1}), mortal=R({0, 1}), mortal_producers=R({0}), quitters=R({0})
    ),
    "2 ranks, 2 clears, 2 calls at once": Config(per_producer=2, max_epoch=2, mortal=R({1}), max_calls=2),
    "3 ranks, 2 batches retained": Config(ranks=3, depth=2),
}

# Without GuardOwnRead the graph is infinite: a rank may take one batch again and again.
FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items() if name != "GuardOwnRead"}

# Every other guard at once; nobody would ever be lost without FenceFrees.
UNGUARDED = Config(
    per_producer=2,
    mortal=R({0}),
    mortal_producers=R({0}),
    guards=Guards.without(*(name for name in FAULTY if name != "FenceFrees")),
)


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks, producers = len(state["status"]), len(state["producer"])
    return State(
        calls=state["calls"],
        waiting=tuple(Call(**call) for call in state["waiting"]),
        log=tuple(Entry(**entry) for entry in state["log"]),
        epoch=state["epoch"],
        rankSeen=function(state["rankSeen"], ranks),
        prodSeen=function(state["prodSeen"], producers),
        status=function(state["status"], ranks),
        producer=function(state["producer"], producers),
        exist=state["exist"],
        got=function(state["got"], ranks),
    )


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Dispatch.tla``."""
    return tlc_graph("dispatch/Dispatch.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Dispatch(config))))
