"""Level V3 on the host's readiness channel: the edges of the model graph that a host can take, each taken."""

from __future__ import annotations

from typing import Any

from models.kernel import Action
from models.readiness import Config, State
from models.readiness_state import DEAD
from tests.conformance.driving import Deviation, ServiceCoverage, difference, take_every_move
from tests.conformance.readiness_core import names_of, party_of
from tests.conformance.readiness_moves import host_moves
from tests.conformance.readiness_service_driver import ReadinessServiceDriver
from tests.conformance.walks import Move

__all__ = ("drive_service",)


def drive_service(config: Config) -> ServiceCoverage:
    """Take every move of a host through the channel."""
    graph, moves = host_moves(config)
    return take_every_move(graph, moves, lambda: ReadinessServiceDriver(config), _check)


def _check(driver: ReadinessServiceDriver, wanted: State, move: Move[State]) -> None:
    found = driver.state()
    if found != wanted:
        raise Deviation(difference(wanted, found))
    told = [(event["action"], event["args"], event["result"], event["post"]) for event in driver.recorder.take()]
    hidden = ("Crash", "Cut", "LateWord", "Age", "Beat", "GhostBeat")
    expected = [_event(driver, action, after) for _, action, after in move if action.name not in hidden]
    if told != expected:
        raise Deviation(f"recorded {told} instead of {expected}")


def _event(driver: ReadinessServiceDriver, action: Action, after: State) -> tuple[Any, ...]:
    config, params = driver.config, dict(action.params)
    args: dict[str, Any] = {"number": params.get("w")}
    result: dict[str, Any] = {}
    if "p" in params:
        component, rank = party_of(config, params["p"])
        args = {"component": component, "rank": rank}
        result = {"inc": after.inc[params["p"]]} if action.name == "Join" else {}
    elif action.name == "Wait":
        by = list(party_of(config, params["by"] - 1)) if params["by"] else []
        args = {"by": by, "components": names_of(config, params["mask"]), "patient": params["patient"]}
        result = {"number": len(after.waits)}
    rows = [[p for p in config.there if config.component_of(p) == k] for k in range(config.components)]
    seen = ["live" if status == DEAD else status for status in after.status]
    post = {
        "status": [[seen[p] for p in row] for row in rows],
        "inc": [[after.inc[p] for p in row] for row in rows],
        "said": [[after.said[p] for p in row] for row in rows],
        "stuck": [[after.stuck[p] for p in row] for row in rows],
        "open": [w for w, wait in enumerate(after.waits, 1) if wait.outcome == "open"],
    }
    return action.name, args, result, post
