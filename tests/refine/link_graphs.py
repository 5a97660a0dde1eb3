"""The link protocol under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.graph import Difference, Named, build, compare, named
from models.link import Config, Guards, Link, Request, State
from models.link_bugs import BUGS
from tests.refine.tlc_graph import tlc_graph

__all__ = ("FAULTY", "FIXED", "UNGUARDED", "compared", "spec_graph")

FIXED: dict[str, Config] = {"2 calls, everything may end": Config(2, 1, 1, True, True, True, True, True)}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(calls=2, max_losses=0, may_fence=True, guards=Guards.without(*Guards.names()))


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    found = dict(state)
    for name in ("wire", "late"):
        found[name] = frozenset(
            Request(request["number"], frozenset(request["open"]), request["top"]) for request in state[name]
        )
    for name in ("calls", "known", "ran"):
        found[name] = tuple(state[name])
    return State(**{**found, "back": frozenset(state["back"])})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Link.tla``."""
    return tlc_graph("link/Link.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Link(config))))
