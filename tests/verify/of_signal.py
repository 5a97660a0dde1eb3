"""V2 of the signals. V1 and V7 read the manifest and the register; the rows of the code have a module of their own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import cast

from tests.refine.signal_graphs import (
    FAULTY,
    FIXED,
    LARGE,
    SHIPPED,
    SHIPPED_LARGE,
    compared,
    compared_shipped,
)
from tests.verify import rows
from tests.verify.check import Check, Row

__all__ = ("checks",)

P = "signal"
_CODE = "tests.verify.of_signal_code"


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
    return rows.graph(P, f"FIXED: {name}", rows.shown(config.constants()), *compared(config))


def _shipped(name: str) -> Row:
    config = {**SHIPPED, **SHIPPED_LARGE}[name]
    return rows.graph(P, f"SHIPPED: {name}", rows.shown(config.constants()), *compared_shipped(config))
