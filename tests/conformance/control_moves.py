"""What a host's control channel can do between two critical sections: the moves in the model's graph.

A rank joins by its first take, so Join and Take are one critical section, and Join stands alone only when there is
nothing to take. A request that only lost ranks lack ends in the critical section in which it is made. A handle that
opens, or takes, before the host has noticed the end of the process before it, brings about the Fence.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.control import Config, Control, State
from models.graph import Edge, Graph, build
from models.kernel import Action
from tests.conformance.walks import Move, Moves, Steps, moves_by_edge

__all__ = ("host_moves",)


def host_moves(config: Config) -> tuple[Graph[State], Moves[State]]:
    """Return the graph, and the moves from each state in which a host can be between two critical sections."""
    graph = build(Control(config))
    return graph, moves_by_edge(graph, _moves_with)


def _moves_with(first: Edge[State], steps: Steps[State]) -> Iterator[Move[State]]:
    _, action, after = first
    if action.name == "Join":
        yield _joined(first, steps)
    elif action.name == "Ask":
        ends = [edge for edge in steps[after] if edge[0] == Action("EndLost", (("number", after.asked),))]
        yield (first, *((after, end, then) for end, then in ends))
    else:
        yield (first,)
    if action.name == "Fence":
        for back, then in steps[after]:
            if back == Action("Reappear", action.params):
                yield first, (after, back, then)
            if back == Action("Join", action.params):
                yield first, *_joined((after, back, then), steps)


def _joined(join: Edge[State], steps: Steps[State]) -> Move[State]:
    takes = [edge for edge in steps[join[2]] if edge[0] == Action("Take", join[1].params)]
    return (join, *((join[2], take, then) for take, then in takes))
