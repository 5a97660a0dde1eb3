"""``python -m tests.bench``: ours against the shipped protocol. See ``make bench``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.costs import COSTS, costs
from tests.bench.dispatch import SUBJECTS, Cell, measure

RANKS = (1, 2, 4, 8)
SIZES = (64, 4096, 32768, 262144)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and write JSON on request."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description="Measure ours against the shipped queue."
    )
    parser.add_argument("--quick", action="store_true", help="fewer ranks, sizes and rounds: about half a minute")
    parser.add_argument("--ranks", type=int, nargs="+", help=f"numbers of ranks (default: {RANKS})")
    parser.add_argument("--sizes", type=int, nargs="+", help=f"payload bytes (default: {SIZES})")
    parser.add_argument("--rounds", type=int, help="runs of each subject, by turns (default: 7, quick 3)")
    parser.add_argument("--count", type=int, help="batches in a run (default: 15, quick 10)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(argv)
    quick: bool = options.quick
    ranks = tuple(options.ranks or ((1, 4) if quick else RANKS))
    sizes = tuple(options.sizes or ((64, 4096) if quick else SIZES))
    rounds = options.rounds or (3 if quick else 7)
    count = options.count or (10 if quick else 15)

    machine = f"{os.cpu_count()} CPUs, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    print(f"put until all have it: medians of {rounds} runs of {count} batches, by turns, and min..max of the runs, µs")
    print(machine)
    cells: list[Cell] = []
    for number in ranks:
        cells += measure(number, sizes, rounds, count)
        _print_cells(cells, number, sizes)
    found = costs(1 if quick else 3, max(ranks))
    _print_costs(found)
    if options.json:
        options.json.write_text(json.dumps(_figures(machine, rounds, count, cells, found), indent=1) + "\n")
    return 0


def _print_cells(cells: list[Cell], ranks: int, sizes: tuple[int, ...]) -> None:
    print(f"\nN = {ranks}\n{'bytes':>8}", *(f"{name:>27}" for name in SUBJECTS), f"{'tcp/ours':>9} {'unix/ours':>9}")
    for size in sizes:
        row = {cell.subject: cell for cell in cells if (cell.ranks, cell.size) == (ranks, size)}
        ours = row["ours"].median
        shown = [f"{row[name].median:9.0f} {_span(row[name].medians):>17}" for name in SUBJECTS]
        ratios = [f"{row[name].median / ours:8.1f}x" for name in ("shipped tcp", "shipped unix")]
        print(f"{size:>8}", *shown, *ratios, flush=True)


def _span(values: list[float]) -> str:
    return f"{min(values):.0f}..{max(values):.0f}"


def _print_costs(found: dict[str, dict[str, list[float]]]) -> None:
    print(f"\n{'':44}", *(f"{kind:>16}" for kind in found))
    for key, title in COSTS.items():
        print(f"{title:44}", *(f"{statistics.median(found[kind][key]):16.2f}" for kind in found))
    print("A shipped client here has the 6 proxies of dispatch; FastDeploy's has 33, and connects that much longer.")


def _figures(
    machine: str, rounds: int, count: int, cells: list[Cell], found: dict[str, dict[str, list[float]]]
) -> dict[str, Any]:
    return {
        "machine": machine,
        "rounds": rounds,
        "count": count,
        "unit": "µs",
        "dispatch": [
            {"subject": c.subject, "ranks": c.ranks, "bytes": c.size, "median": c.median, "medians": c.medians}
            for c in cells
        ],
        "costs": found,
    }


if __name__ == "__main__":
    raise SystemExit(main())
