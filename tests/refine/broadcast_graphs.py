"""The abstract broadcast under the configuration in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.broadcast import Broadcast, Config, State
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("ABSTRACT", "compared", "decode")

ABSTRACT = Config(readers=2, messages=2, depth=2, clears=1)


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    readers = len(state["reader"])
    return State(
        sent=state["sent"],
        got=function(state["got"], readers),
        dropped=state["dropped"],
        skipped=function(state["skipped"], readers),
        epoch=state["epoch"],
        reader=function(state["reader"], readers),
        writer=state["writer"],
    )


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph of ``Broadcast.tla``, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("common/Broadcast.tla", config.constants(), State._fields, decode, "BroadcastSpec")
    return wanted, compare(wanted, named(build(Broadcast(config))))
