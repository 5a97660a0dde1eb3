"""The readiness protocol, as specified and as shipped, where model and specification are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import readiness_shipped as shipped
from models.graph import Difference, Named, build, compare, named
from models.readiness import Config, Guards, Readiness, State, Waiting
from models.readiness_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "LARGE", "SHIPPED", "UNGUARDED", "compared", "compared_shipped", "spec_graph")

R = frozenset[int]
ONE = R({0})

# It has every action.
FIXED: dict[str, Config] = {
    "1 part, 2 processes": Config(
        max_inc=2,
        mortal=ONE,
        cuts=ONE,
        hangs=ONE,
        failing=ONE,
        reloading=ONE,
        leavers=ONE,
    ),
}
LARGE: dict[str, Config] = {
    "1 part, patient waits": Config(max_inc=2, patience=R({0, 1}), mortal=ONE, failing=ONE, hangs=ONE),
    "2 components in order": Config(
        components=2, needs=R({2}), max_waits=2, askers=R({0, 2}), masks=R({1, 3}), failing=ONE
    ),
    "2 parts": Config(parts=2, max_inc=2, mortal=ONE, hangs=R({1}), failing=R({1}), patience=R({0, 1})),
    "2 components, of which one has a part less": Config(
        components=2,
        parts=2,
        without=R({3}),
        needs=R({2}),
        max_waits=1,
        askers=R({0, 3}),
        masks=R({1, 3}),
        mortal=ONE,
        hangs=R({2}),
        failing=R({1}),
    ),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(
    components=2,
    needs=R({1}),
    max_inc=2,
    askers=R({0, 1, 2}),
    masks=R({1, 2}),
    mortal=ONE,
    cuts=ONE,
    hangs=ONE,
    guards=Guards.without(*Guards.names()),
)

SHIPPED: dict[str, shipped.Config] = {
    "2 ranks, everything may happen": shipped.Config(leftover=R({1}), dies=ONE, hangs_up=R({1}), busy=R({1})),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    count = len(state["status"])
    plain: dict[str, Any] = {
        name: function(state[name], count) for name in ("status", "inc", "said", "stuck", "ghost", "serves")
    }
    return State(
        **plain,
        stamps=tuple(frozenset(there) for there in function(state["stamps"], count)),
        waits=tuple(Waiting(**wait) for wait in state["waits"]),
    )


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    count = len(state["word"])
    of_rank = {name: function(state[name], count) for name in ("word", "state", "beat", "late")}
    return shipped.State(**{**state, **of_rank})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Readiness.tla``."""
    return tlc_graph("readiness/Readiness.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Readiness(config))))


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """Return TLC's graph of ``ReadinessShipped.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("readiness/ReadinessShipped.tla", config.constants(), shipped.State._fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.ReadinessShipped(config))))
