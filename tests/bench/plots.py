"""The plots of the page, as SVG. Needs matplotlib (extra ``bench``)."""

from __future__ import annotations

import importlib
import statistics
from pathlib import Path
from typing import Any

from tests.bench.results import Results
from tests.bench.tables import bytes_text

__all__ = ("PLOTS", "draw", "stamp")

PLOTS = ("back", "paced", "ranks")
"""Names of the files, without ending."""

_MARKS = "osD^v<>PXd*hp8"


def draw(results: Results, folder: Path, digest: str) -> None:
    """Write the plots into a folder. The same results and the same matplotlib make the same files."""
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "fdcomm", "font.size": 9})
    plt: Any = importlib.import_module("matplotlib.pyplot")
    ranks = 4 if 4 in results.ranks else max(results.ranks)
    size = 4096 if 4096 in results.sizes else min(results.sizes)
    sizes = [bytes_text(each) for each in results.sizes]
    for name, load in (("back", "back"), ("paced", "paced")):
        title = {"back": "back to back", "paced": "one batch each 2.5 ms"}[load]
        lines = {
            subject: [_median(results.values(subject, ranks, each, load)) for each in results.sizes]
            for subject in results.subjects
        }
        _draw(plt, folder / f"{name}.svg", f"Until all {ranks} ranks have it, {title}", "payload", sizes, lines, digest)
    lines = {
        subject: [_median(results.values(subject, each, size, "back")) for each in results.ranks]
        for subject in results.subjects
    }
    title = f"Until all ranks have {bytes_text(size)}, back to back"
    _draw(plt, folder / "ranks.svg", title, "ranks", [str(each) for each in results.ranks], lines, digest)


def stamp(svg: str) -> str:
    """Return the digest of the results that a plot was drawn from; "" if it has none."""
    return svg.partition("results ")[2][:64] if "results " in svg else ""


def _median(values: list[float]) -> float:
    return statistics.median(values) if values else float("nan")


def _draw(
    plt: Any, path: Path, title: str, below: str, names: list[str], lines: dict[str, list[float]], digest: str
) -> None:
    shown, axes = plt.subplots(figsize=(8, 4.6))
    for number, (subject, values) in enumerate(lines.items()):
        ours = subject.startswith(("ring", "EngineWorkerQueue"))
        style = {
            "linewidth": 2.2 if ours else 1.0,
            "marker": _MARKS[number % len(_MARKS)],
            "markersize": 4,
            "linestyle": "-" if number < 10 else "--",
        }
        axes.plot(range(len(names)), values, label=subject, color=f"C{number % 10}", **style)
    axes.set_yscale("log")
    axes.set_xticks(range(len(names)), names)
    axes.set_xlabel(below)
    axes.set_ylabel("µs, median")
    axes.set_title(title)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    metadata = {"Date": None, "Creator": None, "Description": f"results {digest}"}
    shown.savefig(path, bbox_inches="tight", metadata=metadata)
    plt.close(shown)
    lines_of = path.read_text().splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines_of) + "\n")
