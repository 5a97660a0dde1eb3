"""The mailbox protocol, as specified and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import mailbox_shipped as shipped
from models.graph import Difference, Named, build, compare, named
from models.mailbox import Config, Given, Guards, Mailbox, State
from models.mailbox_bugs import BUGS
from tests.refine.tlc_graph import tlc_graph

__all__ = ("FAULTY", "FIXED", "SHIPPED", "UNGUARDED", "compared", "compared_shipped", "spec_graph")

FIXED: dict[str, Config] = {
    "1 request, 1 client": Config(mortal=frozenset({1}), slow=True, idle=True, closes=True),
    "1 request, 2 clients": Config(clients=2, mortal=frozenset({2}), slow=True, closes=True),
    "2 requests": Config(requests=2, max_items=1, capacity=1, mortal=frozenset({1}), slow=True, idle=True, closes=True),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()}

UNGUARDED = Config(clients=2, mortal=frozenset({1}), slow=True, guards=Guards.without(*Guards.names()))

SHIPPED: dict[str, shipped.Config] = {
    "guarded": shipped.Config(),
    **{race: entry.config for race, entry in shipped.RACES.items()},
    "3 results, all may happen": shipped.Config(3, 3, "any", True),
}


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    sent = tuple(tuple(Given(**given) for given in items) for items in state["sent"])
    return State(**{**{name: _tuples(value) for name, value in state.items()}, "sent": sent})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


def _decode_shipped(state: Mapping[str, Any]) -> shipped.State:
    return shipped.State(**{name: _tuples(value) for name, value in state.items()})


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Mailbox.tla``."""
    return tlc_graph("mailbox/Mailbox.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Mailbox(config))))


def compared_shipped(config: shipped.Config) -> tuple[Named[shipped.State], Difference[shipped.State]]:
    """The same for the shipped steps."""
    wanted = tlc_graph("mailbox/MailboxShipped.tla", config.constants(), shipped.State._fields, _decode_shipped)
    return wanted, compare(wanted, named(build(shipped.MailboxShipped(config))))
