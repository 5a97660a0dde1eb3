"""The worker loop under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.graph import Difference, Named, build, compare, named
from models.worker_loop import Config, State, WorkerLoop
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("LOOPS", "compared", "decode")

LOOPS: dict[str, Config] = {
    "worker loop, tickets": Config(engine_clears=True),
    "worker loop as shipped": Config(shipped=True, engine_clears=True),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks = len(state["pc"])
    indexed = {name: function(state[name], ranks) for name in ("seen", "pc", "ran")}
    return State(**{**state, **indexed})


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph of ``WorkerLoop.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("dispatch/WorkerLoop.tla", config.constants(), State._fields, decode)
    return wanted, compare(wanted, named(build(WorkerLoop(config))))
