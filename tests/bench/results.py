"""Figures of one run: medians with their spread, and ratios within the same turn."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

__all__ = ("Figure", "Results", "figure", "ratio")


@dataclass(frozen=True)
class Figure:
    """The median over the turns, and the least and the greatest."""

    median: float
    least: float
    most: float


def figure(values: list[float]) -> Figure:
    """Return the figure of some turns."""
    return Figure(statistics.median(values), min(values), max(values))


def ratio(ours: list[float], theirs: list[float]) -> Figure:
    """Return how many times as much theirs is: the figure of the ratios, turn by turn.

    A turn counts for both or for neither, so a disturbance that lasts longer than a turn leaves the ratio as it is.
    """
    return figure([their / our for our, their in zip(ours, theirs, strict=False)])


class Results:
    """What ``python -m tests.bench.path --json`` wrote."""

    def __init__(self, data: dict[str, Any]) -> None:
        if data.get("format") != 1:
            raise ValueError("not the results of python -m tests.bench.path")
        self.data = data
        self.ranks: tuple[int, ...] = tuple(data["plan"]["ranks"])
        self.sizes: tuple[int, ...] = tuple(data["plan"]["sizes"])
        self._cells = {(row["subject"], row["ranks"], row["bytes"], row["load"]): row for row in data["cells"]}
        self.subjects: tuple[str, ...] = tuple(dict.fromkeys(row["subject"] for row in data["cells"]))

    def values(self, subject: str, ranks: int, size: int, load: str, what: str = "us") -> list[float]:
        """Return one figure for each turn; [] where it was not measured."""
        return list(self._cells.get((subject, ranks, size, load), {}).get(what, []))

    def of_load(self, load: str) -> dict[tuple[str, int, int], list[float]]:
        """Return the times of every subject, number of ranks and size that was measured under a load."""
        return {
            (row["subject"], row["ranks"], row["bytes"]): row["us"] for row in self.data["cells"] if row["load"] == load
        }

    def against(self, ours: str, theirs: str, ranks: int, size: int, load: str) -> Figure | None:
        """Return how many times as long theirs takes."""
        mine, other = self.values(ours, ranks, size, load), self.values(theirs, ranks, size, load)
        return ratio(mine, other) if mine and other else None

    def floor_us(self, ranks: int, size: int, *parts: str) -> float | None:
        """Return a floor: the sum of ``hand_off``, ``dumps``, ``loads``, ``copy``, each of its best turn.

        Every rank loads for itself, as many at a time as there are processors.
        """
        row = next((row for row in self.data["floors"]["sizes"] if row["bytes"] == size), None)
        if row is None:
            return None
        times = {part: min(row[f"{part}_us"]) for part in ("dumps", "loads", "copy")}
        times["hand_off"] = min(self.data["floors"]["hand_off_us"])
        times["loads"] *= -(-ranks // self.data["machine"]["processors"])
        return float(sum(times[part] for part in parts))

    def idle(self, subject: str) -> Figure | None:
        """Return the part of a processor that an idle reader takes."""
        row = next((row for row in self.data["idle"] if row["subject"] == subject), None)
        return figure(row["reader"]) if row else None
