"""Rearrange, as it is and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import rearrange_shipped
from models.graph import Difference, Named, build, compare, named
from models.rearrange import Config, Guards, Rearrange, State
from models.rearrange_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = (
    "FAULTY",
    "FIXED",
    "SHIPPED",
    "UNGUARDED",
    "compared",
    "compared_shipped",
)

R = frozenset[int]

# Small enough for TLC to dump in a few seconds, and the first has every action.
FIXED: dict[str, Config] = {
    "2 ranks, everything": Config(max_requests=1, movers=R({1, 3, 4}), failing=R({0}), deaf=R({1})),
    "1 rank, 2 requests, everybody moves": Config(ranks=1, movers=R({0, 1, 2}), failing=R({0}), deaf=R({1})),
    "3 ranks, a worker and the coordinator move": Config(ranks=3, peers=0, max_requests=1, movers=R({4, 6})),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

# Every guard at once.
UNGUARDED = Config(ranks=1, max_requests=2, movers=R({1}), guards=Guards.without(*Guards.names()))

SHIPPED: dict[str, rearrange_shipped.Config] = {
    "2 ranks, 1 request, all may fail": rearrange_shipped.Config(
        bytes_first=False, gives_up=True, hasty=True, failing=R({0}), deaf=R({1})
    ),
    "1 rank, 2 requests at once": rearrange_shipped.Config(ranks=1, requesters=2, turns=False, hasty=True),
    "2 ranks, 2 requests in turn": rearrange_shipped.Config(requesters=2),
}


def _decode(state: Mapping[str, Any]) -> State:
    parties = len(state["status"])
    per_rank = {name: function(state[name], parties // 2) for name in ("load", "job", "table", "worker", "swap")}
    return State(
        status=function(state["status"], parties),
        phase=state["phase"],
        outcome=tuple(state["outcome"]),
        reached=state["reached"],
        **per_rank,
    )


def _decode_shipped(state: Mapping[str, Any]) -> rearrange_shipped.State:
    ranks = len(state["disk"])
    values = dict(state)
    for name in ("disk", "told", "result", "infos", "loader", "job"):
        values[name] = function(state[name], ranks)
    for name in ("cells", "list", "asking"):
        values[name] = tuple(state[name])
    return rearrange_shipped.State(**values)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("rearrange/Rearrange.tla", config.constants(), State._fields, _decode)
    return wanted, compare(wanted, named(build(Rearrange(config))))


def compared_shipped(
    config: rearrange_shipped.Config,
) -> tuple[Named[rearrange_shipped.State], Difference[rearrange_shipped.State]]:
    """The same for the shipped steps."""
    fields = rearrange_shipped.State._fields
    wanted = tlc_graph("rearrange/RearrangeShipped.tla", config.constants(), fields, _decode_shipped)
    return wanted, compare(wanted, named(build(rearrange_shipped.RearrangeShipped(config))))
