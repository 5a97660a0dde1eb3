"""What a host's readiness channel can do between two critical sections: the moves in the model's graph.

Whatever a host does, it then looks at the words of all parts (Stall, Recover) and ends the waits that are due. A part
joins with whatever it says first; a process whose connection is gone is fenced by its successor's first call, if that
comes before the host has noticed. What processes do by themselves is a move of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.graph import Graph, build
from models.kernel import Action
from models.readiness import Config, Readiness, State
from tests.conformance.walks import Move, Moves, Steps, reachable_moves

__all__ = ("LOOKS", "host_moves")

LOOKS = ("Stall", "Recover")
_ENDS = ("Complete", "GiveUp")
_ALONE = ("Crash", "Cut", "LateWord", "Age", "Beat", "GhostBeat")


def host_moves(config: Config) -> tuple[Graph[State], Moves[State]]:
    """Return the model's graph, and what a host can do in each state that it can be in."""
    graph = build(Readiness(config))
    return graph, reachable_moves(graph, _moves)


def _moves(state: State, steps: Steps[State]) -> Iterator[Move[State]]:
    looked = _followed((), state, steps)
    if looked:
        yield looked
    for action, after in steps[state]:
        edge: Move[State] = ((state, action, after),)
        if action.name in _ALONE:
            yield edge
        elif action.name == "Join":
            yield from _joining(edge, steps)
        elif action.name == "Expire":
            w = action.params[0][1] - 1
            if state.waits[w].by == 0 or not looked:
                yield edge
            there = looked[-1][2] if looked else state
            if looked and there.waits[w].outcome == "open":
                yield (*looked, (there, action, _after(steps, there, action)))
        elif action.name not in (*LOOKS, *_ENDS):
            move = _followed(edge, after, steps)
            yield move
            if action.name == "Fence":
                there = move[-1][2]
                for join, joined in steps[there]:
                    if join == Action("Join", action.params):
                        yield from _joining((*move, (there, join, joined)), steps)


def _joining(move: Move[State], steps: Steps[State]) -> Iterator[Move[State]]:
    """A part joins with its first word: that it is starting, that it is ready, or that it cannot serve."""
    joined = move[-1][2]
    yield _followed(move, joined, steps)
    for action, after in steps[joined]:
        if action.name in ("Ready", "Fail") and action.params == move[-1][1].params:
            yield _followed((*move, (joined, action, after)), after, steps)


def _followed(move: Move[State], state: State, steps: Steps[State]) -> Move[State]:
    """The move with all that is due after it, in the order in which a host takes it."""
    while True:
        due = sorted(
            ((a.name not in LOOKS, a.params[0][1], _ENDS.index(a.name) if a.name in _ENDS else 0), a, s)
            for a, s in steps[state]
            if a.name in (*LOOKS, *_ENDS)
        )
        if not due:
            return move
        _, action, after = due[0]
        move, state = (*move, (state, action, after)), after


def _after(steps: Steps[State], state: State, action: Action) -> State:
    return next(after for step, after in steps[state] if step == action)
