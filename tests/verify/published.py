"""V2 of the small models of published steps, for the protocols that close their races."""

from __future__ import annotations

from collections.abc import Callable

from tests.refine.published_graphs import MODULES, compared
from tests.verify import rows
from tests.verify.check import Row

__all__ = ("offers",)

_Offer = tuple[str, Callable[..., Row], tuple[object, ...]]


def offers(protocol: str, size: str) -> list[_Offer]:
    """Return what to check at V2: the guarded steps always, those without any guard at night."""
    found: list[_Offer] = []
    for module in MODULES.values():
        if module.protocol == protocol:
            names = list(module.configs) if size == "large" else ["guarded"]
            found += [(_what(module.name, name), _row, (module.name, name)) for name in names]
    return found


def _what(module: str, name: str) -> str:
    return f"{module}: {name}"


def _row(module: str, name: str) -> Row:
    found = MODULES[module]
    config = found.configs[name]
    bounds = rows.numbers(config.constants())
    return rows.graph(found.protocol, _what(module, name), bounds, *compared(found, config))
