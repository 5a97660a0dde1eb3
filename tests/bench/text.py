"""The tables of a run as text."""

from __future__ import annotations

from typing import Any

from tests.bench.path.catalogue import OURS
from tests.bench.results import Results
from tests.bench.tables import Table, goal_tables, tables

__all__ = ("aligned", "summary")


def aligned(table: Table) -> str:
    """Return a table in columns."""
    lines = [table.columns, *table.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.columns))]
    shown = [
        "  ".join(text.ljust(width) if not column else text.rjust(width) for column, (text, width) in cells).rstrip()
        for cells in (enumerate(zip(line, widths, strict=True)) for line in lines)
    ]
    return "\n".join([table.title, *shown]) + "\n"


def summary(data: dict[str, Any]) -> str:
    """Return all that a run has found."""
    results = Results(data)
    parts = [aligned(table) for ours in OURS for table in goal_tables(results, ours)]
    parts = [aligned(table) for table in tables(results) if table.rows] + parts
    parts += [f"{name}: {text}" for name, text in data.get("about", {}).items()]
    parts += [f"skipped: {name}: {why}" for name, why in data["skipped"].items()]
    parts += [f"FAILED: {name}: {why}" for name, why in data["failed"].items()]
    machine = data["machine"]
    parts.append(
        f"{machine['processors']} processors, {machine['system']}, Python {machine['python']}; load before: "
        f"{machine['load_before']}; {data['checked']:,} batches checked, none wrong; {machine['took_s']} s"
    )
    return "\n".join(parts).replace("**", "")
