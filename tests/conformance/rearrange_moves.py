"""What a host's rearrange channel can do, and what it records."""

from __future__ import annotations

from collections.abc import Iterator

from models.graph import Edge, Graph
from models.kernel import Action
from models.rearrange import Config, State
from models.rearrange_state import DEAD, LIVE
from tests.conformance.walks import edge_walks

__all__ = ("can", "host_walks", "post_of")


def can(config: Config, state: State, action: Action) -> bool:
    """Return True when a host can take the step between two critical sections."""
    return action.name != "Free" or state.status[2 * config.ranks] in (LIVE, DEAD)


def post_of(state: State, peers: int) -> dict[str, object]:
    """Return what a host records of a state."""
    over = state.phase in ("FREE", "DONE")
    return {
        "phase": state.phase,
        "request": state.running,
        "outcome": state.outcome[-1] if state.outcome else "",
        "unreached": [] if over else [peer for peer in range(1, peers + 1) if peer not in state.reached],
        "load": list(state.load),
        "worker": list(state.worker),
    }


def host_walks(graph: Graph[State], config: Config) -> Iterator[list[Edge[State]]]:
    """Yield behaviours that together take every edge that a host can take."""
    steps = graph.successors().items()
    return edge_walks(graph.initial[0], {s: [(a, t) for a, t in found if can(config, s, a)] for s, found in steps})
