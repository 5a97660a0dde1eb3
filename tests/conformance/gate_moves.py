"""What a host's gate channel can do between two critical sections: the moves in the model's graph.

A rank is claimed by its first answer, so Join and what the answer does are one critical section. Join by itself
happens only when the answer has to wait, and gives up. A handle that opens while the host does not know that the
process before it is gone is Fence and Reappear in one critical section.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TypeAlias

from models.gate import Config, Gate, State
from models.graph import Edge, Graph, build
from models.kernel import Action

__all__ = ("Move", "host_moves", "must_wait", "walks")

# What happens in one critical section.
Move: TypeAlias = tuple[Edge[State], ...]


def must_wait(model: Gate, state: State, rank: int, issue: int) -> bool:
    """Return True when the answer of a rank to a request can be neither put nor refused."""
    key = state.issued[issue - 1]
    return not model._is_late(state, rank, key) and model._put(state, rank, issue, key) is None


def host_moves(config: Config) -> tuple[Graph[State], dict[State, list[Move]]]:
    """Return the graph, and the moves from each state in which a host can be between two critical sections."""
    model = Gate(config)
    graph = build(model)
    steps = graph.successors()
    moves: dict[State, list[Move]] = {}
    todo = deque(graph.initial)
    while todo:
        state = todo.popleft()
        if state in moves:
            continue
        moves[state] = [move for action, after in steps[state] for move in _moves(model, state, action, after, steps)]
        todo.extend(move[-1][2] for move in moves[state])
    return graph, moves


def _moves(
    model: Gate, state: State, action: Action, after: State, steps: dict[State, list[tuple[Action, State]]]
) -> Iterator[Move]:
    first = (state, action, after)
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
