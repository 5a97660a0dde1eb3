"""What a host's transfer channel can do between two critical sections: the moves in the model's graph.

The last rank that accepts starts the task in the same critical section, and one that accepts while another is absent or
pausing backs off in it. A handle that opens, or waits for a task, before the host has noticed the end of the process
before it, brings about the Fence.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.graph import Edge, Graph, build
from models.kernel import Action
from models.transfer import Config, State, Transfer
from models.transfer_state import AWAY, LOST
from tests.conformance.walks import Move, Moves, Steps, moves_by_edge

__all__ = ("host_moves",)


def host_moves(config: Config) -> tuple[Graph[State], Moves[State]]:
    """Return the graph, and the moves from each state in which a host can be between two critical sections."""
    graph = build(Transfer(config))
    return graph, moves_by_edge(graph, _moves_with)


def _moves_with(first: Edge[State], steps: Steps[State]) -> Iterator[Move[State]]:
    _, action, after = first
    if action.name == "Accept":
        due = [Action("Start")]
        if "no" in after.vote or {AWAY, LOST} & set(after.status):
            due.append(Action("BackOff", action.params))
        yield (first, *((after, step, then) for step, then in steps[after] if step in due))
    else:
        yield (first,)
    if action.name == "Fence":
        for back, then in steps[after]:
            if back in (Action("Reappear", action.params), Action("Join", action.params)):
                yield first, (after, back, then)
