"""The bitmask protocol, its done queue, and the shipped cache queue, where model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import bitmask, bitmask_shipped, dispatch, done
from models.bitmask import Bitmask, as_bitmask, as_dispatch
from models.dispatch import Dispatch
from models.dispatch_state import Call
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = (
    "DONE",
    "FIXED",
    "MORE",
    "SHIPPED",
    "compared",
    "compared_done",
    "compared_shipped",
    "dispatch_config",
    "equivalent",
)

R = frozenset[int]

# TLC checks the properties of these in the run that dumps their graph: MCBitmask_* in tla/manifest.toml.
FIXED: dict[str, bitmask.Config] = {
    "2 ranks, everybody comes and goes": bitmask.Config(
        depth=1, leavers=R({1}), mortal=R({0}), mortal_producers=R({0}), quitters=R({0})
    ),
    "2 ranks, 2 tasks queued, 2 calls at once": bitmask.Config(max_calls=3, per_producer=2),
}

# More of the same, for long runs.
MORE: dict[str, bitmask.Config] = {
    "1 rank, everybody comes and goes": bitmask.Config(
        ranks=1, depth=1, leavers=R({0}), mortal=R({0}), mortal_producers=R({0}), quitters=R({0})
    ),
    "2 ranks, crash, 2 tasks queued": bitmask.Config(max_calls=2, per_producer=2, mortal=R({1})),
    "3 ranks, crash": bitmask.Config(ranks=3, max_calls=1, mortal=R({2})),
}

DONE: dict[str, done.Config] = {
    "2 takers": done.Config(takers=2, max_done=4, most=2),
    "1 taker, 'empty' looks at the list": done.Config(takers=1, max_done=3, most=3, counts_in_hand=False),
}

SHIPPED: dict[str, bitmask_shipped.Config] = {
    "2 ranks, crash": bitmask_shipped.Config(max_calls=2, mortal=R({0})),
    "2 ranks, no second look": bitmask_shipped.Config(max_calls=2, recheck=False),
    "1 rank, 2 producers": bitmask_shipped.Config(ranks=1, producers=2, max_calls=2),
}


def _decode(state: Mapping[str, Any]) -> bitmask.State:
    ranks, producers = len(state["status"]), len(state["producer"])
    return bitmask.State(
        calls=state["calls"],
        waiting=tuple(Call(**call) for call in state["waiting"]),
        queue=tuple(bitmask.Task(**task) for task in state["queue"]),
        epoch=state["epoch"],
        rankSeen=function(state["rankSeen"], ranks),
        prodSeen=function(state["prodSeen"], producers),
        status=function(state["status"], ranks),
        producer=function(state["producer"], producers),
        exist=state["exist"],
        got=function(state["got"], ranks),
    )


def _decode_done(state: Mapping[str, Any]) -> done.State:
    in_hand = state["inHand"]
    return done.State(state["results"], function(in_hand, len(in_hand)), state["handled"])


def _decode_shipped(state: Mapping[str, Any]) -> bitmask_shipped.State:
    ranks, processes = len(state["got"]), len(state["pc"])
    return bitmask_shipped.State(
        lock=state["lock"],
        tasks=state["tasks"],
        sync=state["sync"],
        pc=function(state["pc"], processes),
        calls=state["calls"],
        clears=state["clears"],
        alive=function(state["alive"], processes),
        got=function(state["got"], ranks),
    )


def compared(config: bitmask.Config) -> tuple[Named[bitmask.State], Difference[bitmask.State]]:
    """Return TLC's graph of ``Bitmask.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("bitmask/Bitmask.tla", config.constants(), bitmask.State._fields, _decode)
    return wanted, compare(wanted, named(build(Bitmask(config))))


def compared_done(config: done.Config) -> tuple[Named[done.State], Difference[done.State]]:
    """The same for ``Done.tla``."""
    wanted = tlc_graph("bitmask/Done.tla", config.constants(), done.State._fields, _decode_done)
    return wanted, compare(wanted, named(build(done.Done(config))))


def compared_shipped(
    config: bitmask_shipped.Config,
) -> tuple[Named[bitmask_shipped.State], Difference[bitmask_shipped.State]]:
    """The same for ``BitmaskShipped.tla``."""
    fields = bitmask_shipped.State._fields
    wanted = tlc_graph("bitmask/BitmaskShipped.tla", config.constants(), fields, _decode_shipped)
    return wanted, compare(wanted, named(build(bitmask_shipped.BitmaskShipped(config))))


def dispatch_config(config: bitmask.Config | dispatch.Config) -> dispatch.Config:
    """Return the configuration of dispatch with the same constants."""
    shared = {name: getattr(config, name) for name in dispatch.Config.__dataclass_fields__ if name != "guards"}
    return dispatch.Config(**shared)


def equivalent(config: bitmask.Config) -> tuple[int, int, str]:
    """Are the graphs of bitmask and dispatch one graph, through the mappings of the equivalence?

    Returns states, edges, and what is wrong: the mappings must be each other's inverse on all states, and each must
    take the one graph, with its labels and their parameters, to the other.
    """
    ours, theirs = build(Bitmask(config)), build(Dispatch(dispatch_config(config)))
    wrong = ""
    if [as_bitmask(as_dispatch(state)) for state in ours.states] != ours.states:
        wrong = "a state of bitmask does not come back from dispatch"
    elif [as_dispatch(as_bitmask(state)) for state in theirs.states] != theirs.states:
        wrong = "a state of dispatch does not come back from bitmask"
    there = {(as_dispatch(before), str(action), as_dispatch(after)) for before, action, after in ours.edges}
    back = {(as_bitmask(before), str(action), as_bitmask(after)) for before, action, after in theirs.edges}
    if there != {(before, str(action), after) for before, action, after in theirs.edges}:
        wrong = wrong or "as dispatch, bitmask has other steps"
    if back != {(before, str(action), after) for before, action, after in ours.edges}:
        wrong = wrong or "as bitmask, dispatch has other steps"
    if [as_dispatch(state) for state in ours.initial] != theirs.initial:
        wrong = wrong or "they start in different states"
    return len(ours.states), len(ours.edges), wrong
