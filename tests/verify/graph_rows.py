"""V2 of the protocols whose graphs stand in tables of a module of tests/refine: FIXED, SHIPPED, FAULTY, UNGUARDED."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any

from tests.verify import rows
from tests.verify.check import Check, Row

__all__ = ("graph_checks", "listed_graph")

_UNGUARDED = "without any guard"


def graph_checks(
    protocol: str,
    graphs: ModuleType,
    run: Callable[[str, str], Row],
    size: str,
    small: Collection[tuple[str, str]],
    kinds: Sequence[str] = ("FIXED", "SHIPPED", "FAULTY"),
) -> list[Check]:
    """Return a check of every graph of a size.

    Args:
        protocol: Protocol of the rows.
        graphs: The module of tests/refine.
        run: Makes the row of a kind and a name.
        size: "large" takes every graph.
        small: The kinds and names that "small" takes.
        kinds: The tables that the module has.
    """
    every = [(kind, name) for kind in kinds for name in getattr(graphs, kind)]
    every.append(("FIXED", _UNGUARDED))
    chosen = [one for one in every if size == "large" or one in small]
    return [Check(protocol, "V2", f"{kind}: {name}", run, (kind, name)) for kind, name in chosen]


def listed_graph(protocol: str, what: str, graphs: ModuleType, kind: str, name: str) -> Row:
    """One of the module's graphs beside TLC's."""
    if kind == "SHIPPED":
        config: Any = graphs.SHIPPED[name]
        wanted, difference = graphs.compared_shipped(config)
    else:
        config = {**graphs.FIXED, **graphs.FAULTY, _UNGUARDED: graphs.UNGUARDED}[name]
        wanted, difference = graphs.compared(config)
    return rows.graph(protocol, what, rows.numbers(config.constants()), wanted, difference)
