"""What a host's pause channel can do between two critical sections: the moves in the model's graph.

A call that can return at once does so in the critical section in which it orders. A call whose time limit has ended
looks once more before it gives up. A process that joins for a rank whose connection is gone has that rank fenced.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TypeAlias

from models.graph import Edge, Graph, build
from models.kernel import Action
from models.pause import Config, Pause, State

__all__ = ("RETURNS", "Move", "host_moves", "walks")

# What happens in one critical section.
Move: TypeAlias = tuple[Edge[State], ...]
Steps: TypeAlias = "dict[State, list[tuple[Action, State]]]"

RETURNS = ("PauseReturns", "PauseEnded", "ResumeReturns")
_CALLS = ("CallPause", "CallResume", "CancelPause")


def host_moves(config: Config) -> tuple[Graph[State], dict[State, list[Move]]]:
    """Return the graph, and the moves from each state in which a host can be between two critical sections."""
    graph = build(Pause(config))
    steps = graph.successors()
    moves: dict[State, list[Move]] = {}
    todo = deque(graph.initial)
    while todo:
        state = todo.popleft()
        if state in moves:
            continue
        moves[state] = [move for action, after in steps[state] for move in _moves(state, action, after, steps)]
        todo.extend(move[-1][2] for move in moves[state])
    return graph, moves


def _moves(state: State, action: Action, after: State, steps: Steps) -> Iterator[Move]:
    first = (state, action, after)
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


def _return_of(action: Action, state: State, steps: Steps) -> Edge[State] | None:
    """Return the step with which the client's call returns, if it can."""
    client = action.param("client")
    found = ((state, step, then) for step, then in steps[state] if step.name in RETURNS)
    return next((edge for edge in found if edge[1].param("client") == client), None)


def walks(start: State, moves: dict[State, list[Move]]) -> Iterator[list[Move]]:
    """Yield behaviours that together take every move, each extended for as long as it can be."""
    parent: dict[State, Move | None] = {start: None}
    order = deque([start])
    while order:
        for move in moves[order.popleft()]:
            if move[-1][2] not in parent:
                parent[move[-1][2]] = move
                order.append(move[-1][2])
    left = {state: list(found) for state, found in moves.items()}
    for state in parent:
        while left[state]:
            walk: list[Move] = []
            at = state
            while (link := parent[at]) is not None:
                walk.append(link)
                at = link[0][0]
            walk.reverse()
            at = state
            while left[at]:
                walk.append(left[at].pop())
                at = walk[-1][-1][2]
            yield walk
