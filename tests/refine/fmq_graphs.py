"""The FMQ queue, as specified and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import fmq_shipped as shipped
from models.fmq import Config, Fmq, Frame, Guards, State
from models.fmq_bugs import BUGS
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "SHIPPED", "UNGUARDED", "compared", "compared_shipped", "spec_graph")

_ONE = frozenset({1})

FIXED: dict[str, Config] = {"1 message": Config(max_sent=1, window=1, large=_ONE)}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(max_sent=1, window=1, large=_ONE, guards=Guards.without(*Guards.names()))

SHIPPED: dict[str, shipped.Config] = {
    "guarded": shipped.Config(),
    **{race: one.config for race, one in shipped.RACES.items()},
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    size = len(state["sent"])
    plain = ("consumer", "starts", "cuts")
    whole: dict[str, Any] = {name: x if name in plain else function(x, size) for name, x in state.items()}
    whole["flow"] = tuple(tuple(_frames(flow) for flow in flows) for flows in whole["flow"])
    whole["pipe"] = tuple(_frames(pipe) for pipe in whole["pipe"])
    for name in ("ack", "given"):
        whole[name] = tuple(map(tuple, whole[name]))
    decoded: State = State(**whole)
    return decoded


def _frames(flow: Any) -> tuple[Frame, ...]:
    return tuple(Frame(**frame) for frame in flow)


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    return shipped.State(**{**state, "inbox": tuple(map(tuple, state["inbox"]))})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Fmq.tla``."""
    return tlc_graph("fmq/Fmq.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Fmq(config))))


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """The same for the shipped steps."""
    wanted = tlc_graph("fmq/FmqShipped.tla", config.constants(), shipped.State._fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.FmqShipped(config))))
