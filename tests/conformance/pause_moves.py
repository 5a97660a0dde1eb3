"""What a host's pause channel can do between two critical sections: the moves in the model's graph.

A call that can return at once does so in the critical section in which it orders. A call whose time limit has ended
looks once more before it gives up. A process that joins for a rank whose connection is gone has that rank fenced.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.graph import Edge, Graph, build
from models.kernel import Action
from models.pause import Config, Pause, State
from tests.conformance.walks import Move, Moves, Steps, moves_by_edge

__all__ = ("RETURNS", "host_moves")

RETURNS = ("PauseReturns", "PauseEnded", "ResumeReturns")
_CALLS = ("CallPause", "CallResume", "CancelPause")


def host_moves(config: Config) -> tuple[Graph[State], Moves[State]]:
    """Return the graph, and the moves from each state in which a host can be between two critical sections."""
    graph = build(Pause(config))
    return graph, moves_by_edge(graph, _moves_with)


def _moves_with(first: Edge[State], steps: Steps[State]) -> Iterator[Move[State]]:
    state, action, after = first
    if action.name in _CALLS:
        back = _return_of(action, after, steps)
        yield (first, back) if back is not None else (first,)
        return
    if action.name == "GiveUp" and _return_of(action, state, steps) is not None:
        if action.param("client") not in state.holders:  # then only the end of its session ends the call like this
            yield (first,)
        return
    yield (first,)
    if action.name == "Fence":
        yield first, next((after, join, then) for join, then in steps[after] if join == Action("Join", action.params))


def _return_of(action: Action, state: State, steps: Steps[State]) -> Edge[State] | None:
    """Return the step with which the client's call returns, if it can."""
    client = action.param("client")
    found = ((state, step, then) for step, then in steps[state] if step.name in RETURNS)
    return next((edge for edge in found if edge[1].param("client") == client), None)
