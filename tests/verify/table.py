"""The table at the end of a verification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.verify.check import Row

__all__ = ("count", "print_table")

_PLAIN_WIDTH = 240


def count(number: int | None) -> str:
    """Return a count for a person: ``1,234``, or a dash where the word does not apply."""
    return "-" if number is None else f"{number:,}"


def print_table(rows: Sequence[Row], wall_s: float, console: Console | None = None) -> None:
    """Print one line per row, then the failures with their reasons, then one line that sums up."""
    shown = console or Console()
    if not shown.is_terminal:
        shown = Console(file=shown.file, width=_PLAIN_WIDTH, color_system=None)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("protocol", "level", "what was checked"):
        table.add_column(name, overflow="fold")
    for name in ("states", "edges"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bounds", overflow="fold")
    table.add_column("seconds", justify="right", no_wrap=True)
    table.add_column("result", no_wrap=True)
    for row in rows:
        result = Text("ok", "green") if row.ok else Text("FAIL", "bold red")
        numbers = (count(row.states), count(row.edges))
        cells = (Text(row.protocol), Text(row.level), Text(row.what), *numbers, Text(row.bounds))
        table.add_row(*cells, f"{row.seconds:.1f}", result)
    shown.print(table)
    for row in _failures(rows):
        shown.print(Text(f"FAIL {row.level} {row.protocol}: {row.what}", "bold red"))
        shown.print(Text(f"     {row.detail or 'no reason was given'}"))
    failed = sum(1 for _ in _failures(rows))
    style = "bold red" if failed else "bold green"
    cpu_s = sum(row.cpu_s for row in rows)
    shown.print(Text(f"{len(rows)} checks, {failed} failed, {wall_s:.1f} s, {cpu_s:.0f} s of processor time", style))


def _failures(rows: Iterable[Row]) -> Iterable[Row]:
    return (row for row in rows if not row.ok)
