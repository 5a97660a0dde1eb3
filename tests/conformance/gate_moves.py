"""What a host's gate channel can do between two critical sections: the moves in the model's graph.

A rank is claimed by its first answer, so Join and what the answer does are one critical section. Join by itself
happens only when the answer has to wait, and gives up. A handle that opens while the host does not know that the
process before it is gone is Fence and Reappear in one critical section.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from models.gate import Config, Gate, State
from models.graph import Edge, Graph, build
from models.kernel import Action
from tests.conformance.walks import Move, Moves, Steps, moves_by_edge

__all__ = ("host_moves", "must_wait")


def must_wait(model: Gate, state: State, rank: int, issue: int) -> bool:
    """Return True when the answer of a rank to a request can be neither put nor refused."""
    key = state.issued[issue - 1]
    return not model._is_late(state, rank, key) and model._put(state, rank, issue, key) is None


def host_moves(config: Config) -> tuple[Graph[State], Moves[State]]:
    """Return the graph, and the moves from each state in which a host can be between two critical sections."""
    model = Gate(config)
    graph = build(model)
    return graph, moves_by_edge(graph, partial(_moves_with, model))


def _moves_with(model: Gate, first: Edge[State], steps: Steps[State]) -> Iterator[Move[State]]:
    _, action, after = first
    if action.name != "Join":
        yield (first,)
        if action.name == "Fence":
            yield first, next((after, back, then) for back, then in steps[after] if back == _back(action))
        return
    rank = action.params[0][1]
    for answer, then in steps[after]:
        if answer.name in ("PutAnswer", "RefuseLate") and answer.param("rank") == rank:
            yield first, (after, answer, then)
    if any(must_wait(model, after, rank, issue) for issue in model.next_of(after, rank)):
        yield (first,)


def _back(fence: Action) -> Action:
    return Action("Reappear", fence.params)
