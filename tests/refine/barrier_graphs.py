"""The barriers, as specified and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import barrier_shipped as shipped
from models.barrier import Arrival, Barrier, Config, Guards, State
from models.barrier_bugs import BUGS
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "SHIPPED", "compared", "compared_shipped", "spec_graph")

R = frozenset[int]

# Together every action, every option, every outcome of a wait.
FIXED: dict[str, Config] = {
    "2 ranks, 2 barriers, everything": Config(
        labels=2, max_rounds=1, max_aborts=1, named=True, leavers=R({1}), mortal=R({0})
    ),
    "3 ranks, 2 barriers, crash": Config(ranks=3, labels=2, max_rounds=1, mortal=R({2})),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

# Every guard away at once. Without RoundsCount no rank ever waits twice, so that one stays.
UNGUARDED = Config(
    max_rounds=1,
    max_aborts=1,
    mortal=R({0}),
    guards=Guards.without(*(name for name in Guards.names() if name != "RoundsCount")),
)

SHIPPED: dict[str, shipped.Config] = {
    "2 ranks, everything": shipped.Config(
        turns=2, resetters=R({0}), mortal=R({1}), killed_waiting=True, failing=R({0}), skippers=R({1})
    ),
    "3 ranks, one barrier, all reset": shipped.Config(ranks=3, turns=1, resetters=R({0, 1, 2}), mortal=R({0})),
}


def _row(value: Any, size: int) -> tuple[Any, ...]:
    """A function over 0 .. size - 1; with one argument TLC still prints a function."""
    return function(value, size)


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks, barriers = len(state["status"]), len(state["generation"])
    arrived = _row(state["arrived"], barriers)
    return State(
        status=_row(state["status"], ranks),
        generation=_row(state["generation"], barriers),
        arrived=tuple(tuple(Arrival(**arrival) for arrival in there) for there in arrived),
        broken=_row(state["broken"], barriers),
        aborts=_row(state["aborts"], barriers),
        undone=_row(state["undone"], barriers),
        passed=tuple(_row(counts, barriers) for counts in _row(state["passed"], ranks)),
    )


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    ranks, barriers = len(state["pc"]), len(state["state"])
    indexed = {name: _row(state[name], ranks) for name in ("pc", "turn", "task", "alive")}
    indexed |= {name: _row(state[name], barriers) for name in ("state", "inside")}
    return shipped.State(**{**state, **indexed})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Barrier.tla``."""
    return tlc_graph("barrier/Barrier.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Barrier(config))))


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """Return TLC's graph of ``BarrierShipped.tla``, and what the model's graph lacks or has too much."""
    constants, fields = config.constants(), shipped.State._fields
    wanted = tlc_graph("barrier/BarrierShipped.tla", constants, fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.BarrierShipped(config))))
