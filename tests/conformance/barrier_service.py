"""Level V3 on the host's barrier channel: the edges of the model graph that a host can take, each taken.

What a host does in one critical section is one move. A rank joins by its first wait, so Join is a move only together
with that wait; and a rank whose connection is gone is fenced by the first wait of its successor, if that comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from models.barrier import Barrier, Config, State
from models.graph import Edge, Graph, build
from models.kernel import Action
from tests.conformance.barrier_core import Deviation, difference
from tests.conformance.barrier_service_driver import WAITS, BarrierServiceDriver
from tests.conformance.walks import Move, Moves, Steps, reachable_moves, walks

__all__ = ("Coverage", "drive_service", "host_moves")


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
    graph = build(Barrier(config))
    return graph, reachable_moves(graph, _moves)


def _moves(state: State, steps: Steps[State]) -> Iterator[Move[State]]:
    for action, after in steps[state]:
        edge = (state, action, after)
        if action.name == "Join":
            yield from ((edge, *rest) for rest in _first_waits(after, action, steps))
            continue
        yield (edge,)
        if action.name == "Fence":
            for join, joined in steps[after]:
                if join == Action("Join", action.params):
                    yield from ((edge, (after, join, joined), *rest) for rest in _first_waits(joined, join, steps))


def _first_waits(state: State, join: Action, steps: Steps[State]) -> Iterator[Move[State]]:
    for action, after in steps[state]:
        if action.name in WAITS and action.param("rank") == join.param("rank"):
            yield ((state, action, after),)


def drive_service(config: Config, *, lazy: bool = False) -> Coverage:
    """Take every move of the host through the channel."""
    graph, moves = host_moves(config)
    coverage = Coverage(of=len(graph.edges))
    seen: set[Edge[State]] = set()
    visited: set[State] = set()
    for walk in walks(graph.initial[0], moves):
        coverage.walks += 1
        driver = BarrierServiceDriver(config, lazy=lazy)
        driver.events()
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


def _check(driver: BarrierServiceDriver, wanted: State, move: Move[State]) -> None:
    found = driver.state()
    if found != wanted:
        raise Deviation(difference(wanted, found))
    events = driver.events()
    edges = [edge for edge in move if edge[1].name != "Crash"]
    if [event[0] for event in events] != [action for _, action, _ in edges]:
        raise Deviation(f"recorded {[str(event[0]) for event in events]} for {[str(e[1]) for e in edges]}")
    for (_, post), (_, action, after) in zip(events, edges, strict=True):
        shown = {
            "generation": list(after.generation),
            "arrived": [[a.rank for a in there] for there in after.arrived],
            "broken": list(after.broken),
            "aborts": list(after.aborts),
            "lost": [rank for rank, status in enumerate(after.status) if status == "lost"],
        }
        if post != shown:
            raise Deviation(f"{action} was recorded with {post} after it instead of {shown}")
