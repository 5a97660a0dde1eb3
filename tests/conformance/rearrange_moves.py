"""What a host's rearrange channel can do, and what it records."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from models.graph import Edge, Graph
from models.kernel import Action
from models.rearrange import Config, State
from models.rearrange_state import DEAD, LIVE

__all__ = ("ServiceCoverage", "can", "post_of", "walks")


@dataclass
class ServiceCoverage:
    """What was driven. ``edges`` of ``of`` edges of the graph."""

    states: int = 0
    edges: int = 0
    of: int = 0
    walks: int = 0
    refusals: int = 0
    actions: Counter[str] = field(default_factory=Counter)


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


def walks(graph: Graph[State], config: Config) -> Iterator[list[Edge[State]]]:
    """Yield behaviours that together take every edge, each extended for as long as it can be."""
    steps = graph.successors()
    left = {s: [(s, a, t) for a, t in found if can(config, s, a)] for s, found in steps.items()}
    (start,) = graph.initial
    parent: dict[State, Edge[State] | None] = {start: None}
    order = deque([start])
    while order:
        for edge in left[order.popleft()]:
            if edge[2] not in parent:
                parent[edge[2]] = edge
                order.append(edge[2])
    for state in parent:
        while left[state]:
            walk: list[Edge[State]] = []
            at = state
            while (link := parent[at]) is not None:
                walk.append(link)
                at = link[0]
            walk.reverse()
            at = state
            while left[at]:
                walk.append(left[at].pop())
                at = walk[-1][2]
            yield walk
