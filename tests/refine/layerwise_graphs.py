"""The tables of layer-wise sending under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import layerwise_open as opening
from models import layerwise_pair as pair
from models import layerwise_shipped as shipped
from models.graph import Difference, Named, build, compare, named
from models.layerwise import Config, Done, Guards, Layerwise, State, Task
from models.layerwise_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = (
    "FAULTY",
    "FIXED",
    "OPENING",
    "PAIR",
    "SHIPPED",
    "UNGUARDED",
    "compare_of",
    "compared",
    "decode",
    "spec_graph",
)

R = frozenset[int]
Compared = tuple[Named[Any], Difference[Any]]

# Small enough for TLC to dump in a few seconds, and together every action and every option.
FIXED: dict[str, Config] = {
    "1 slot, used twice": Config(aborted=R({2}), expiry=True),
    "2 slots, an info is lost": Config(tasks=3, slots=2, layers=1, lost=R({1}), aborted=R({3}), expiry=True),
    "2 ranks": Config(ranks=2, tasks=2, slots=2, layers=1),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

# Every guard at once.
UNGUARDED = Config(aborted=R({2}), expiry=True, guards=Guards.without(*Guards.names()))


PAIR: dict[str, pair.Config] = {
    "packed word": pair.Config(),
    "plain words": pair.Config(reader=pair.PLAIN),
    "plain words, the step first": pair.Config(reader=pair.PLAIN, layer_first=False),
    "published reader": pair.Config(reader=pair.SHIPPED, mortal=False),
}

OPENING: dict[str, opening.Config] = {
    "2 names": opening.Config(),
    "2 names, one look": opening.Config(own_name=False),
    "2 names, made anew": opening.Config(exclusive=False),
}

SHIPPED: dict[str, shipped.Config] = {
    **{race: config for race, (config, _) in shipped.RACES.items()},
    "guarded": shipped.Config(messages=2, size=1, info_first=True),
}


def _by_slot(value: Any, ranks: int, slots: int) -> tuple[tuple[Any, ...], ...]:
    return tuple(function(item, slots) for item in function(value, ranks))


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks = len(state["given"])
    slots = len(state["seen"][0])
    return State(
        computed=tuple(tuple(item) for item in function(state["computed"], ranks)),
        ended=function(state["ended"], ranks),
        given=function(state["given"], ranks),
        tasks=tuple(tuple(Task(**x) for x in rank) for rank in function(state["tasks"], ranks)),
        early=tuple(tuple(tuple(e) for e in rank) for rank in _by_slot(state["early"], ranks, slots)),
        seen=_by_slot(state["seen"], ranks, slots),
        gone=_by_slot(state["gone"], ranks, slots),
        told=function(state["told"], ranks),
        done=tuple(tuple(Done(**x) for x in rank) for rank in function(state["done"], ranks)),
    )


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Layerwise.tla``."""
    return tlc_graph("layerwise/Layerwise.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Layerwise(config))))


def _compared_pair(config: pair.Config) -> Compared:
    def of(state: Mapping[str, Any]) -> pair.State:
        words = state["words"]
        return pair.State(
            state["computed"],
            pair.Words(words["step"], words["layer"], tuple(words["packed"])),
            tuple(state["writing"]),
            tuple(state["loads"]),
            tuple(state["got"]),
            state["again"],
            tuple(state["result"]),
        )

    wanted = tlc_graph("layerwise/LayerPair.tla", config.constants(), pair.State._fields, of)
    return wanted, compare(wanted, named(build(pair.LayerPair(config))))


def _compared_opening(config: opening.Config) -> Compared:
    def of(state: Mapping[str, Any]) -> opening.State:
        has = tuple(tuple(item) for item in state["has"])
        return opening.State(tuple(state["named"]), state["made"], has, tuple(state["at"]), tuple(state["pc"]))

    wanted = tlc_graph("layerwise/LayerOpen.tla", config.constants(), opening.State._fields, of)
    return wanted, compare(wanted, named(build(opening.LayerOpen(config))))


def _compared_shipped(config: shipped.Config) -> Compared:
    def of(state: Mapping[str, Any]) -> shipped.State:
        values = {name: function(state[name], config.ranks) for name in shipped.State._fields}
        return shipped.State(**values | {"batches": tuple(tuple(rank) for rank in values["batches"])})

    wanted = tlc_graph("layerwise/LayerwiseShipped.tla", config.constants(), shipped.State._fields, of)
    return wanted, compare(wanted, named(build(shipped.LayerwiseShipped(config))))


def compare_of(kind: str, name: str) -> Compared:
    """Compare one configuration of PAIR, OPENING, SHIPPED, FAULTY or FIXED."""
    if kind == "PAIR":
        return _compared_pair(PAIR[name])
    if kind == "OPENING":
        return _compared_opening(OPENING[name])
    if kind == "SHIPPED":
        return _compared_shipped(SHIPPED[name])
    return compared(UNGUARDED if name == "without any guard" else {**FIXED, **FAULTY}[name])
