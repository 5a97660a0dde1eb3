"""What a host's control channel can do between two critical sections: the moves in the model's graph.

A rank joins by its first take, so Join and Take are one critical section, and Join stands alone only when there is
nothing to take. A request that only lost ranks lack ends in the critical section in which it is made. A handle that
opens, or takes, before the host has noticed the end of the process before it, brings about the Fence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TypeAlias

from models.control import Config, Control, State
from models.graph import Edge, Graph, build
from models.kernel import Action

__all__ = ("Move", "host_moves", "walks")

# What happens in one critical section.
Move: TypeAlias = tuple[Edge[State], ...]
Steps: TypeAlias = dict[State, list[tuple[Action, State]]]


def host_moves(config: Config) -> tuple[Graph[State], dict[State, list[Move]]]:
    """Return the graph, and the moves from each state in which a host can be between two critical sections."""
    graph = build(Control(config))
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


def _joined(join: Edge[State], steps: Steps) -> Move:
    takes = [edge for edge in steps[join[2]] if edge[0] == Action("Take", join[1].params)]
    return (join, *((join[2], take, then) for take, then in takes))


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
