"""The transfer protocol, as specified and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import transfer_shipped as shipped
from models.graph import Difference, Named, build, compare, named
from models.transfer import Config, Guards, Report, State, Transfer
from models.transfer_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = (
    "FAULTY",
    "FIXED",
    "LARGE",
    "SHIPPED",
    "SHIPPED_LARGE",
    "UNGUARDED",
    "compared",
    "compared_shipped",
    "spec_graph",
)

R = frozenset[int]

FIXED: dict[str, Config] = {
    "2 ranks, a pause": Config(max_pauses=1),
    "1 rank, everybody may go": Config(
        ranks=1,
        mortal=R({0}),
        leavers=R({0}),
        silent=R({0}),
        failing=R({0}),
        slow=R({0}),
        frail=R({1}),
        impatient=R({1}),
    ),
}

LARGE: dict[str, Config] = {
    "2 ranks, a pause, one fails": Config(max_pauses=1, failing=R({1})),
    "2 ranks, everybody may go": Config(mortal=R({0}), leavers=R({1}), silent=R({1}), frail=R({1}), impatient=R({1})),
    "1 rank, 2 tasks of 2 kinds": Config(ranks=1, max_issued=2, kinds=2, capacity=1, failing=R({0})),
    "2 ranks, 2 tasks": Config(max_issued=2),
    "2 ranks, time limits": Config(max_pauses=1, hasty=True, impatient=R({1})),
    "2 ranks, one runs over its limit": Config(max_pauses=1, slow=R({0}), impatient=R({1})),
    "2 ranks, seen from the host": Config(
        inside=False, mortal=R({0}), leavers=R({1}), silent=R({1}), failing=R({0, 1}), slow=R({0})
    ),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(mortal=R({0}), failing=R({0}), slow=R({1}), guards=Guards.without(*Guards.names()))

SHIPPED: dict[str, shipped.Config] = {
    "guarded": shipped.Config(max_pauses=0),
}
SHIPPED_LARGE: dict[str, shipped.Config] = {
    "guarded, a pause": shipped.Config(),
    "the later text": shipped.Config(goes_on=True, early=True, slow=True, clears=True, resets=True, raisers=R({1})),
    "the first text": shipped.Config(local=True, faulty=R({0}), raisers=R({0})),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks, clients = len(state["status"]), len(state["hand"])
    by_rank = {name: function(state[name], ranks) for name in ("status", "vote", "open", "spare")}
    return State(
        owner=tuple(state["owner"]),
        kind=tuple(state["kind"]),
        state=tuple(state["state"]),
        reports=tuple(frozenset(Report(**report) for report in reports) for reports in state["reports"]),
        without=tuple(frozenset(without) for without in state["without"]),
        busy=tuple(frozenset(busy) for busy in state["busy"]),
        results=tuple(tuple(state["results"][client]) for client in range(clients)),
        hand=tuple(state["hand"]),
        handled=frozenset(state["handled"]),
        held=tuple(frozenset(held) for held in state["held"]),
        gone=frozenset(state["gone"]),
        phase=state["phase"],
        pauses=state["pauses"],
        jobs=tuple(frozenset(jobs) for jobs in function(state["jobs"], ranks)),
        running=tuple(frozenset(running) for running in function(state["running"], ranks)),
        **by_rank,
    )


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Transfer.tla``."""
    return tlc_graph("transfer/Transfer.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Transfer(config))))


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    ranks = len(state["pc"])
    by_rank = {name: function(state[name], ranks) for name in ("told", "active", "inflight", "pc", "pool")}
    backlog = tuple(tuple(tasks) for tasks in function(state["backlog"], ranks))
    sets = {name: frozenset(state[name]) for name in ("mask", "done", "dropped", "erred")}
    return shipped.State(**{**state, **by_rank, **sets, "queue": tuple(state["queue"]), "backlog": backlog})


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """The same for the shipped steps."""
    module, fields = "transfer/TransferShipped.tla", shipped.State._fields
    wanted = tlc_graph(module, config.constants(), fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.TransferShipped(config))))
