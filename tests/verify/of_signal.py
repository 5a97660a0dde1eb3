"""V2 of the signals. V1 and V7 read the manifest and the register; the rows of the code have a module of their own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar, cast

from models.graph import Difference, Named
from tests.refine.signal_graphs import (
    FAULTY,
    FIXED,
    LARGE,
    SHIPPED,
    SHIPPED_LARGE,
    compared,
    compared_shipped,
)
from tests.verify.check import Check, Row

__all__ = ("checks",)

P = "signal"
_CODE = "tests.verify.of_signal_code"
S = TypeVar("S", bound=tuple[Any, ...])


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    if level == "V2":
        return _v2(size)
    if find_spec(_CODE) is None:
        return []
    return cast("Callable[[str, str], list[Check]]", importlib.import_module(_CODE).checks)(level, size)


def _v2(size: str) -> list[Check]:
    fixed = FIXED if size == "small" else {**FIXED, **LARGE, **FAULTY}
    shipped = SHIPPED if size == "small" else {**SHIPPED, **SHIPPED_LARGE}
    found = [Check(P, "V2", f"FIXED: {name}", _fixed, (name,)) for name in fixed]
    return found + [Check(P, "V2", f"SHIPPED: {name}", _shipped, (name,)) for name in shipped]


def _fixed(name: str) -> Row:
    config = {**FIXED, **LARGE, **FAULTY}[name]
    return _graph(f"FIXED: {name}", _bounds(config.constants()), *compared(config))


def _shipped(name: str) -> Row:
    config = {**SHIPPED, **SHIPPED_LARGE}[name]
    return _graph(f"SHIPPED: {name}", _bounds(config.constants()), *compared_shipped(config))


def _bounds(constants: dict[str, Any]) -> str:
    shown = {name: value for name, value in constants.items() if not isinstance(value, bool)}
    return " ".join(
        f"{name}={{{','.join(map(str, sorted(value)))}}}" if isinstance(value, frozenset) else f"{name}={value}"
        for name, value in shown.items()
    )


def _graph(what: str, bounds: str, wanted: Named[S], difference: Difference[S]) -> Row:
    return Row(
        P,
        "V2",
        what,
        ok=not difference,
        states=len(wanted.states),
        edges=len(wanted.edges),
        bounds=bounds,
        detail=f"the model differs from TLC: {difference.text(1)}".replace("\n", "; ") if difference else "equal",
    )
