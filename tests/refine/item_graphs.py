"""Cache infos and connect tasks, ours and as shipped, where model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import flag_channel_shipped as shipped
from models.cache_info import CacheInfo
from models.connect import Connect
from models.graph import Difference, Named, build, compare, named
from models.item_channel import Config, ItemChannel, State
from tests.refine.dispatch_graphs import decode
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FIXED", "MODELS", "SHIPPED", "compared", "compared_shipped")

R = frozenset[int]

# Protocol -> its model and its spec.
MODELS: dict[str, tuple[type[ItemChannel], str]] = {
    "cache_info": (CacheInfo, "cache_info/CacheInfo.tla"),
    "connect": (Connect, "connect/Connect.tla"),
}

FIXED: dict[str, dict[str, Config]] = {
    "cache_info": {
        "2 ranks, everybody comes and goes": Config(
            leavers=R({1}), mortal=R({0}), mortal_producers=R({0}), quitters=R({0})
        ),
    },
    "connect": {
        "2 ranks, 2 producers, crash": Config(producers=2, per_producer=1, mortal=R({1}), max_calls=3),
    },
}

SHIPPED: dict[str, dict[str, shipped.Config]] = {
    "cache_info": {"2 ranks, flags start at 0, an empty put": shipped.Config(flags_start=0, empty_puts=R({1}))},
    "connect": {"2 ranks, flags start at 0": shipped.Config(own_flag=False, barrier=True, flags_start=0)},
}

_SHIPPED_SPEC = {"cache_info": "cache_info/CacheInfoShipped.tla", "connect": "connect/ConnectShipped.tla"}


def compared(protocol: str, config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much. PutItem there is PutTasks here."""
    model, spec = MODELS[protocol]
    wanted = tlc_graph(spec, config.constants(), State._fields, decode, "ItemSpec")
    edges = frozenset((a, "PutTasks" if label == "PutItem" else label, b) for a, label, b in wanted.edges)
    wanted = Named(wanted.initial, wanted.states, edges)
    return wanted, compare(wanted, named(build(model(config))))


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    ranks = len(state["flags"])
    return shipped.State(
        lock=state["lock"],
        pc=function(state["pc"], ranks + 1),
        calls=state["calls"],
        tasks=state["tasks"],
        flags=function(state["flags"], ranks),
        puts=state["puts"],
        got=function(state["got"], ranks),
        idle=function(state["idle"], ranks),
    )


def compared_shipped(protocol: str, config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """The same for the shipped steps."""
    wanted = tlc_graph(_SHIPPED_SPEC[protocol], config.constants(), shipped.State._fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.FlagChannelShipped(config))))
