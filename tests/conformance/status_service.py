"""Level V3 on the host's status channel: the edges of the model graph that a host can take, each taken.

What a host does in one critical section is one move: an action, and all that follows from it at once. A part joins by
its first take, so Join comes with that Take where there is something to take; and a part whose connection is gone is
fenced by the first take of its successor, if that comes first.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.graph import Graph, build
from models.kernel import Action
from models.status import Config, State, Status
from tests.conformance.driving import Deviation, ServiceCoverage, difference, take_every_move
from tests.conformance.status_service_driver import StatusServiceDriver
from tests.conformance.walks import Move, Moves, Steps, reachable_moves

__all__ = ("drive_service", "host_moves")

_FOLLOWS = ("Settle", "Fail", "NextStage", "Finish")


def host_moves(config: Config) -> tuple[Graph[State], Moves[State]]:
    """Return the model's graph, and what a host can do in each state that it can be in."""
    graph = build(Status(config))
    return graph, reachable_moves(graph, _moves)


def _moves(state: State, steps: Steps[State]) -> Iterator[Move[State]]:
    for action, after in steps[state]:
        move = _followed(((state, action, after),), steps)
        if action.name == "Join":
            yield _taking(move, action, steps)
            continue
        yield move
        if action.name == "Fence":
            there = move[-1][2]
            for join, joined in steps[there]:
                if join == Action("Join", action.params):
                    yield _taking((*move, (there, join, joined)), join, steps)


def _followed(move: Move[State], steps: Steps[State]) -> Move[State]:
    """The move with all that is due after it, in the order in which a host takes it."""
    while True:
        state = move[-1][2]
        due = sorted(
            ((_FOLLOWS.index(a.name), a.params, a, s) for a, s in steps[state] if a.name in _FOLLOWS),
            key=lambda one: one[:2],
        )
        if not due:
            return move
        move = (*move, (state, due[0][2], due[0][3]))


def _taking(move: Move[State], join: Action, steps: Steps[State]) -> Move[State]:
    state = move[-1][2]
    taken = next(((a, s) for a, s in steps[state] if a == Action("Take", join.params)), None)
    return move if taken is None else (*move, (state, *taken))


def drive_service(config: Config) -> ServiceCoverage:
    """Take every move of the host through the channel."""
    graph, moves = host_moves(config)
    return take_every_move(graph, moves, lambda: StatusServiceDriver(config), _check)


def _check(driver: StatusServiceDriver, wanted: State, move: Move[State]) -> None:
    found = driver.state(wanted)
    if found != wanted:
        raise Deviation(difference(wanted, found))
    events = driver.events()
    edges = [edge for edge in move if edge[1].name != "Crash"]
    if [event[0] for event in events] != [action for _, action, _ in edges]:
        raise Deviation(f"recorded {[str(event[0]) for event in events]} for {[str(e[1]) for e in edges]}")
    for (_, post), (_, action, after) in zip(events, edges, strict=True):
        shown = driver.shown(after)
        if post != shown:
            raise Deviation(f"{action} was recorded with {post} after it instead of {shown}")
