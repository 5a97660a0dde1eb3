"""Behaviours of a graph that together take every edge, and those of a host, which takes several edges at once.

What a host does in one critical section is a move. Between two of them it is in fewer states than its model, so the
moves of each protocol say which edges it can take, and together with which others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from models.graph import Edge, Graph
from models.kernel import Action

__all__ = (
    "Move",
    "Moves",
    "Steps",
    "edge_walks",
    "edges_of",
    "moves_by_edge",
    "reachable_moves",
    "states_within",
    "walks",
)

S = TypeVar("S", bound=tuple[Any, ...])

Move: TypeAlias = tuple[Edge[S], ...]
Moves: TypeAlias = dict[S, list[Move[S]]]
Steps: TypeAlias = dict[S, list[tuple[Action, S]]]


def reachable_moves(graph: Graph[S], moves_of: Callable[[S, Steps[S]], Iterable[Move[S]]]) -> Moves[S]:
    """Return the moves from each state in which a host can be; ``moves_of`` says those of one."""
    steps = graph.successors()
    moves: Moves[S] = {}
    todo = deque(graph.initial)
    while todo:
        state = todo.popleft()
        if state in moves:
            continue
        moves[state] = list(moves_of(state, steps))
        todo.extend(move[-1][2] for move in moves[state])
    return moves


def moves_by_edge(graph: Graph[S], moves_with: Callable[[Edge[S], Steps[S]], Iterable[Move[S]]]) -> Moves[S]:
    """As :func:`reachable_moves`, where ``moves_with`` says which moves begin with an edge."""

    def moves_of(state: S, steps: Steps[S]) -> Iterator[Move[S]]:
        for action, after in steps[state]:
            yield from moves_with((state, action, after), steps)

    return reachable_moves(graph, moves_of)


def edges_of(moves: Moves[S]) -> set[Edge[S]]:
    """Return the edges that are in a move."""
    return {edge for found in moves.values() for move in found for edge in move}


def states_within(moves: Moves[S]) -> set[S]:
    """Return the states that something passes through in the middle of a move."""
    return {edge[2] for found in moves.values() for move in found for edge in move[:-1]}


def walks(start: S, moves: Mapping[S, Iterable[Move[S]]]) -> Iterator[list[Move[S]]]:
    """Yield behaviours from ``start`` that together take every move, each extended for as long as it can be."""
    left = {state: list(found) for state, found in moves.items()}
    parent: dict[S, Move[S] | None] = {start: None}
    order = deque([start])
    while order:
        for move in left[order.popleft()]:
            if move[-1][2] not in parent:
                parent[move[-1][2]] = move
                order.append(move[-1][2])
    for state in parent:
        while left[state]:
            walk: list[Move[S]] = []
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


def edge_walks(start: S, steps: Steps[S]) -> Iterator[list[Edge[S]]]:
    """Yield the walks of something that takes one edge at a time, as edges."""
    moves = {state: [((state, action, after),) for action, after in found] for state, found in steps.items()}
    for walk in walks(start, moves):
        yield [edge for (edge,) in walk]
