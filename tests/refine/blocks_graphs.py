"""The blocks protocol, as specified and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import blocks_shipped as shipped
from models.blocks import Blocks, Config, Guards, Lease, State, Task
from models.blocks_bugs import BUGS
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import tlc_graph

__all__ = ("FAULTY", "FIXED", "SHIPPED", "UNGUARDED", "compared", "compared_shipped", "spec_graph")

FIXED: dict[str, Config] = {
    "2 blocks, 1 task, 1 reset": Config(refuses=True, cancels=True, mortal=True, closes=True, overruns=True),
    "leases of 2 blocks, no target": Config(device=2, host=0, sizes=frozenset({1, 2}), in_place=True, refuses=True),
    "2 tasks": Config(max_tasks=2),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(cancels=True, mortal=True, overruns=True, bad=frozenset({1}), guards=Guards.without(*Guards.names()))

SHIPPED: dict[str, shipped.Config] = {
    "guarded": shipped.Config(tasks=2, quiet=True),
    **{race: config for race, (config, _) in shipped.RACES.items()},
    "2 tasks": shipped.Config(tasks=2, bad=frozenset({2})),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    leases = frozenset(Lease(lease["ids"], lease["gen"]) for lease in state["leases"])
    return State(**{**state, "leases": leases, "tasks": tuple(Task(**task) for task in state["tasks"])})


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    lists = {name: tuple(state[name]) for name in ("listed", "caller", "event", "task")}
    return shipped.State(**{**state, **lists})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Blocks.tla``."""
    return tlc_graph("blocks/Blocks.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Blocks(config))))


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """The same for the shipped steps."""
    wanted = tlc_graph("blocks/BlocksShipped.tla", config.constants(), shipped.State._fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.BlocksShipped(config))))
