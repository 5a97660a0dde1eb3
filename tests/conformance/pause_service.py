"""Level V3 on the host's pause channel: the edges of the model graph that a host can take, each taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fdcomm.core.pause import MODES
from models.graph import Edge
from models.kernel import Action
from models.pause import Config, State
from models.pause_state import DEAD, LIVE
from tests.conformance.pause_core import Deviation, difference
from tests.conformance.pause_moves import host_moves
from tests.conformance.pause_service_driver import INSIDE, ServiceDriver
from tests.conformance.walks import Move, walks

__all__ = ("Coverage", "drive_service")


@dataclass
class Coverage:
    """What was driven. ``edges`` of ``of`` edges of the graph."""

    states: int = 0
    edges: int = 0
    of: int = 0
    walks: int = 0
    refusals: int = 0
    actions: Counter[str] = field(default_factory=Counter)


def drive_service(config: Config) -> Coverage:
    """Take every move of the host through the channel."""
    graph, moves = host_moves(config)
    coverage = Coverage(of=len(graph.edges))
    seen: set[Edge[State]] = set()
    visited: set[State] = set()
    for walk in walks(graph.initial[0], moves):
        coverage.walks += 1
        driver = ServiceDriver(config)
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
            raise Deviation(f"{error!r} in the behaviour {', '.join(map(str, done)) or '(start)'}") from error
    coverage.states = len(visited | {edge[2] for edge in seen})
    coverage.edges = len(seen)
    coverage.actions.update(action.name for _, action, _ in seen)
    return coverage


def _check(driver: ServiceDriver, wanted: State, move: Move[State]) -> None:
    found = driver.state()
    if found != wanted:
        raise Deviation(difference(wanted, found))
    events = driver.events()
    edges = [edge for edge in move if edge[1].name not in INSIDE]
    if [event[0] for event in events] != [action for _, action, _ in edges]:
        raise Deviation(f"recorded {[str(event[0]) for event in events]} for {[str(e[1]) for e in edges]}")
    for (_, post), (_, action, after) in zip(events, edges, strict=True):
        there = [rank for rank, status in enumerate(after.status) if status in (LIVE, DEAD)]
        shown = {
            "order": after.order,
            "phase": after.phase,
            "mode": MODES[after.mode],
            "quiet": sorted(after.quiet),
            "seen": [[rank, after.seen[rank]] for rank in there],
            "holders": len(after.holders),
        }
        if {**post, "holders": len(post["holders"])} != shown:
            raise Deviation(f"{action} was recorded with {post} after it instead of {shown}")
