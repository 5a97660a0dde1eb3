"""Level V3 on the host's status channel: the edges of the model graph that a host can take, each taken.

What a host does in one critical section is one move: an action, and all that follows from it at once. A part joins by
its first take, so Join comes with that Take where there is something to take; and a part whose connection is gone is
fenced by the first take of its successor, if that comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from models.graph import Edge, Graph, build
from models.kernel import Action
from models.status import Config, State, Status
from tests.conformance.status_core import Deviation, difference
from tests.conformance.status_service_driver import StatusServiceDriver
from tests.conformance.walks import Move, Moves, Steps, reachable_moves, walks

__all__ = ("Coverage", "drive_service", "host_moves")

_FOLLOWS = ("Settle", "Fail", "NextStage", "Finish")


@dataclass
class Coverage:
    """What was driven. ``edges`` of ``of`` edges of the graph."""

    states: int = 0
    edges: int = 0
    of: int = 0
    walks: int = 0
    refusals: int = 0
    actions: Counter[str] = field(default_factory=Counter)


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


def drive_service(config: Config) -> Coverage:
    """Take every move of the host through the channel."""
    graph, moves = host_moves(config)
    coverage = Coverage(of=len(graph.edges))
    seen: set[Edge[State]] = set()
    visited: set[State] = set()
    for walk in walks(graph.initial[0], moves):
        coverage.walks += 1
        driver = StatusServiceDriver(config)
        done: list[Action] = []
        try:
            for move in walk:
                if move[0][0] not in visited:
                    visited.add(move[0][0])
                    coverage.refusals += driver.refusals(move[0][0])
                    _check(driver, move[0][0], ())
                done += [action for _, action, _ in move]
                driver.take(move)
                _check(driver, move[-1][2], move)
                seen.update(move)
            driver.finish()
        except Exception as error:
            raise Deviation(f"{error} in the behaviour {', '.join(map(str, done)) or '(start)'}") from error
    coverage.states = len(visited | {edge[2] for edge in seen})
    coverage.edges = len(seen)
    coverage.actions.update(action.name for _, action, _ in seen)
    return coverage


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
