"""The pause protocol, as it is and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from models import pause_shipped
from models.graph import Difference, Named, build, compare, named
from models.pause import Config, Guards, Pause, State
from models.pause_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "FIXED_LARGE", "SHIPPED", "UNGUARDED", "compared", "compared_shipped")

R = frozenset[int]
Shipped: TypeAlias = pause_shipped.State

# Together every action.
FIXED: dict[str, Config] = {
    "2 ranks, 1 client": Config(leavers=R({1}), mortal=R({0}), impatient=R({1})),
    "1 rank, 2 clients, 2 modes": Config(
        ranks=1, clients=2, modes=R({0, 2}), leavers=R({0}), mortal=R({0}), impatient=R({1})
    ),
}
FIXED_LARGE: dict[str, Config] = {
    "2 ranks, 2 clients": Config(clients=2, leavers=R({1}), mortal=R({0}), impatient=R({2})),
    "1 rank, 2 clients, all modes": Config(ranks=1, clients=2, max_orders=3, modes=R({0, 1, 2}), leavers=R({0})),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(mortal=R({0}), modes=R({0, 1}), guards=Guards.without(*Guards.names()))

SHIPPED: dict[str, pause_shipped.Config] = {
    "guarded": pause_shipped.Config(),
    "1 rank, as it is": pause_shipped.Config(
        ranks=1,
        tasks=2,
        clears=True,
        mortal=R({0}),
        atomic=False,
        one_branch=False,
        counts_after=False,
        starts_active=False,
        answers=False,
    ),
    "2 ranks, the first version": pause_shipped.Config(agrees=False, reads_slots=False, counts_queued=False),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks = len(state["status"])
    by_rank = {name: function(state[name], ranks) for name in ("status", "seen", "gate", "told", "running", "parked")}
    by_client = {name: tuple(state[name]) for name in ("waiting", "awaited")}
    sets = {name: frozenset(state[name]) for name in ("quiet", "holders")}
    return State(**{**state, **by_rank, **by_client, **sets})


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph of ``Pause.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("pause/Pause.tla", config.constants(), State._fields, decode)
    return wanted, compare(wanted, named(build(Pause(config))))


def _decode_shipped(state: Mapping[str, Any]) -> pause_shipped.State:
    ranks = len(state["pc"])
    by_rank = ("pc", "flag", "slot", "counter", "mine", "pooled", "queued", "jobs")
    functions = {name: function(state[name], ranks) for name in by_rank}
    return pause_shipped.State(**{**state, **functions, "read": frozenset(state["read"])})


def compared_shipped(config: pause_shipped.Config) -> tuple[Named[Shipped], Difference[Shipped]]:
    """The same for the shipped pause."""
    fields = pause_shipped.State._fields
    wanted = tlc_graph("pause/PauseShipped.tla", config.constants(), fields, _decode_shipped)
    return wanted, compare(wanted, named(build(pause_shipped.PauseShipped(config))))
