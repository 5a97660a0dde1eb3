"""Level V3 on the host's barrier channel: the edges of the model graph that a host can take, each taken.

What a host does in one critical section is one move. A rank joins by its first wait, so Join is a move only together
with that wait; and a rank whose connection is gone is fenced by the first wait of its successor, if that comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from models.barrier import Barrier, Config, State
from models.graph import Graph, build
from models.kernel import Action
from tests.conformance.barrier_service_driver import WAITS, BarrierServiceDriver
from tests.conformance.driving import Deviation, ServiceCoverage, difference, take_every_move
from tests.conformance.walks import Move, Moves, Steps, reachable_moves

__all__ = ("drive_service", "host_moves")


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


def drive_service(config: Config, *, lazy: bool = False) -> ServiceCoverage:
    """Take every move of the host through the channel."""
    graph, moves = host_moves(config)
    return take_every_move(graph, moves, partial(_begin, config, lazy=lazy), _check)


def _begin(config: Config, *, lazy: bool) -> BarrierServiceDriver:
    driver = BarrierServiceDriver(config, lazy=lazy)
    driver.events()  # those of its making
    return driver


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
