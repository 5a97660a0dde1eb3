"""Finds the checks: every protocol of ``spec/`` at every level.

A level's checks are those of ``tests/verify/v<n>_*.py`` and, where a protocol has a module of its own,
``tests/verify/of_<protocol>.py`` with ``checks(level, size)``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from tests.verify.check import LEVELS, Check, Row

__all__ = ("EMPTY_CELLS", "SIZES", "collect", "protocols")

ROOT = Path(__file__).resolve().parents[2]

SIZES = ("small", "large")

EMPTY_CELLS: dict[tuple[str, str], str] = {}
"""(protocol, level) -> why that protocol has no check at that level. A cell without checks that is not here fails."""

_NOT_PROTOCOLS = {"api", "races"}


def protocols() -> list[str]:
    """Return the names of the protocols that have a contract in ``spec/``."""
    return sorted(path.stem for path in (ROOT / "spec").glob("*.toml") if path.stem not in _NOT_PROTOCOLS)


def module_of(level: str, folder: Path | None = None) -> str | None:
    """Return the name of the level's module, or None when there is none."""
    found = sorted((folder or ROOT / "tests" / "verify").glob(f"{level.lower()}_*.py"))
    if len(found) > 1:
        raise ValueError(f"{level} has more than one module: {', '.join(path.name for path in found)}")
    return f"tests.verify.{found[0].stem}" if found else None


def collect(names: Sequence[str], levels: Sequence[str], size: str) -> tuple[list[Check], list[Row]]:
    """Return the checks to run, and a failed row for each cell that should have some and has none."""
    checks: list[Check] = []
    failed: list[Row] = []
    for level in levels:
        for protocol in names:
            found, problem = _cell(protocol, level, size)
            checks += found
            if problem:
                failed.append(Row(protocol, level, LEVELS[level], ok=False, detail=problem))
    return checks, failed


def _cell(protocol: str, level: str, size: str) -> tuple[list[Check], str]:
    name, own = module_of(level), f"of_{protocol}"
    has_own = (ROOT / "tests" / "verify" / f"{own}.py").exists()
    if name is None and not has_own:
        return [], "" if (protocol, level) in EMPTY_CELLS else f"there is no tests/verify/{level.lower()}_*.py"
    name = name or f"tests.verify.{own}"
    try:
        found: list[Check] = []
        if name != f"tests.verify.{own}":
            offer = cast("Callable[[str, str], list[Check]]", importlib.import_module(name).checks)
            found += offer(protocol, size)
        if has_own:
            more = cast("Callable[[str, str], list[Check]]", importlib.import_module(f"tests.verify.{own}").checks)
            found += more(level, size)
    except Exception as error:  # noqa: BLE001 - a level that cannot say what it checks is a failed cell
        return [], f"{name} cannot list its checks: {type(error).__name__}: {error}"
    twice = sorted({check.what for check in found if sum(other.what == check.what for other in found) > 1})
    if twice:
        return [], f"{name} lists several checks of one name: {', '.join(twice)}"
    strays = [check.what for check in found if (check.protocol, check.level) != (protocol, level)]
    if strays:
        return [], f"{name} lists checks of another protocol or level: {', '.join(strays)}"
    if found and (protocol, level) in EMPTY_CELLS:
        return found, "the cell is declared empty but has checks: remove it from EMPTY_CELLS"
    if not found and (protocol, level) not in EMPTY_CELLS:
        return [], f"{name} has no check for {protocol}; write one, or declare the reason in EMPTY_CELLS"
    return found, ""
