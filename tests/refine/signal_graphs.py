"""Signal, as specified and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from models import segments
from models import signal_shipped as shipped
from models.graph import Difference, Named, build, compare, named
from models.signal import Config, Guards, Signal, State
from models.signal_bugs import BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = (
    "FAULTY",
    "FIXED",
    "LARGE",
    "SHIPPED",
    "SHIPPED_LARGE",
    "abstract_graph",
    "compared",
    "compared_shipped",
    "spec_graph",
)

R = frozenset[int]

# Together every action. These are MCSignal_small.cfg and MCSignal_attach.cfg.
FIXED: dict[str, Config] = {
    "2 creators": Config(insisters=R({1}), mortal=R({0}), foreign=True, full=True),
    "a creator and an attacher": Config(creators=R({0}), attachers=R({1}), mortal=R({0})),
}

LARGE: dict[str, Config] = {
    "everything": Config(insisters=R({1}), attachers=R({0}), mortal=R({0, 1}), foreign=True, full=True),
    "every guard away": Config(attachers=R({1}), mortal=R({0}), foreign=True, guards=Guards.without(*Guards.names())),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

# MCSignalShipped_all.cfg, and the two work-arounds.
_ALL = shipped.Config(
    creators=R({0, 1}),
    if_missing=R({1}),
    attachers=R({0}),
    probers=R({1}),
    clearers=R({0}),
    exits=R({0, 1}),
    restarts=R({0}),
    alone=R({1}),
    ordered=False,
)
SHIPPED: dict[str, shipped.Config] = {"everything": _ALL}
SHIPPED_LARGE: dict[str, shipped.Config] = {
    "one tree, attaches that unregister": replace(_ALL, alone=R(), unregisters=True, ordered=True),
}


def _decode(state: Mapping[str, Any]) -> State:
    processes, files = len(state["pc"]), len(state["content"])
    indexed = {name: function(state[name], processes) for name in ("pc", "insist", "seen", "made", "owned", "attached")}
    return State(**{**state, **indexed, **_tuples(state, ("content", "mark", "lock"), files)})


def _tuples(state: Mapping[str, Any], names: tuple[str, ...], size: int) -> dict[str, tuple[Any, ...]]:
    """Functions over 1 .. size, which TLC prints as sequences."""
    found = {name: tuple(state[name]) for name in names}
    if any(len(value) != size for value in found.values()):
        raise ValueError(f"not functions over 1 .. {size}: {found}")
    return found


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    processes, objects = len(state["pc"]), len(state["content"])
    indexed = {name: function(state[name], processes) for name in ("pc", "seen", "held")}
    told = function(state["told"], processes + 1)
    return shipped.State(**{**state, **indexed, "told": told, **_tuples(state, ("content", "maker"), objects)})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Signal.tla``."""
    return tlc_graph("signal/Signal.tla", config.constants(), State._fields, _decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Signal(config))))


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """Return TLC's graph of ``SignalShipped.tla``, and what the model's graph lacks or has too much."""
    constants, fields = config.constants(), shipped.State._fields
    wanted = tlc_graph("signal/SignalShipped.tla", constants, fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.SignalShipped(config))))


def abstract_graph(config: segments.Config) -> Named[segments.State]:
    """Return TLC's graph of ``Segments.tla``."""

    def decode(state: Mapping[str, Any]) -> segments.State:
        indexed = {name: function(state[name], config.actors) for name in ("owner", "user")}
        return segments.State(**{**state, **indexed})

    constants, fields = config.constants(), segments.State._fields
    return tlc_graph("common/Segments.tla", constants, fields, decode, "SegmentsSpec")
