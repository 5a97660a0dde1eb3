"""Level V3 on the host's pause channel: the edges of the model graph that a host can take, each taken."""

from __future__ import annotations

from functools import partial

from fdcomm.core.pause import MODES
from models.pause import Config, State
from models.pause_state import DEAD, LIVE
from tests.conformance.driving import Deviation, ServiceCoverage, difference, take_every_move
from tests.conformance.pause_moves import host_moves
from tests.conformance.pause_service_driver import INSIDE, ServiceDriver
from tests.conformance.walks import Move

__all__ = ("drive_service",)


def drive_service(config: Config) -> ServiceCoverage:
    """Take every move of the host through the channel."""
    graph, moves = host_moves(config)
    return take_every_move(graph, moves, partial(_begin, config), _check)


def _begin(config: Config) -> ServiceDriver:
    driver = ServiceDriver(config)
    driver.events()  # those of its making
    return driver


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
