"""The worker loop under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.graph import Difference, Named, build, compare, named
from models.worker_loop import Config, Entry, State, WorkerLoop
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("LOOPS", "compared", "decode")

LOOPS: dict[str, Config] = {
    "worker loop, tickets": Config(engine_clears=True),
    "worker loop as shipped": Config(shipped=True, tickets=False, engine_clears=True),
    "worker loop, flag on our queue": Config(tickets=False, depth=2, meets="idle"),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks = len(state["pc"])
    indexed = {name: function(state[name], ranks) for name in ("seen", "pc", "ran")}
    log = tuple(Entry(entry["id"], frozenset(entry["taken"])) for entry in state["log"])
    return State(**{**state, **indexed, "log": log})


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph of ``WorkerLoop.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("dispatch/WorkerLoop.tla", config.constants(), State._fields, decode)
    return wanted, compare(wanted, named(build(WorkerLoop(config))))
