"""The tables of one run, for the terminal and for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.bench.goals import GOALS, IDLE_MOST, Judged, idle_goal, judge, judge_floors
from tests.bench.path.barriers import OURS as OUR_BARRIERS
from tests.bench.path.barriers import PROXIES
from tests.bench.path.catalogue import OURS
from tests.bench.results import Figure, Results, figure, ratio

__all__ = ("BARRIER_TIMES", "Table", "amount", "bytes_text", "excerpt", "goal_tables", "tables")

BARRIER_TIMES = 30
"""How much faster than proxies a barrier is to be, at N = 4 and 8."""

_EXCERPT = {
    "EngineWorkerQueue": "`EngineWorkerQueue`",
    "ring, depth 8": "`fdcomm.ring`",
    "Pipe per reader, pickled once": "a pipe per rank",
    "pyzmq PUSH per reader": "pyzmq",
    "shipped, TCP": "published protocol",
}
_FEW = (1, 4)
_LOADS = {"back": "back to back", "looking": "back to back, writer looks", "paced": "one each 2.5 ms"}


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, and rows of texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def bytes_text(size: int) -> str:
    """Return "64 B", "4 KiB", "4 MiB"."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size:,} B"


def amount(value: float) -> str:
    """Return a number with about three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _spread(found: Figure) -> str:
    return f"{amount(found.median)} ({amount(found.least)} to {amount(found.most)})"


def _cell(values: list[float]) -> str:
    return _spread(figure(values)) if values else "-"


def _met(met: bool | None) -> str:
    return "not measured" if met is None else "met" if met else "**not met**"


def tables(results: Results) -> list[Table]:
    """Return all tables but the goals of each cell."""
    return [
        _goals(results),
        *_times(results),
        _crowded(results),
        _looking(results),
        _waiting(results),
        _clients(results),
        _barriers(results),
        _floors(results),
        _tcp(results),
    ]


def excerpt(results: Results) -> Table:
    """Return a few columns, each with the medians only, and how many times as fast the queue is as published."""
    rows = []
    for ranks in (ranks for ranks in results.ranks if ranks in _FEW):
        for size in results.sizes:
            cells = [results.values(name, ranks, size, "back") for name in _EXCERPT]
            times = results.against("EngineWorkerQueue", "shipped, TCP", ranks, size, "back")
            texts = [amount(figure(values).median) if values else "-" for values in cells]
            rows.append((str(ranks), bytes_text(size), *texts, "-" if times is None else amount(times.median)))
    columns = ("ranks", "payload", *_EXCERPT.values(), "published, times as long")
    return Table("Until all ranks have a batch, back to back, µs", columns, tuple(rows))


def _goals(results: Results) -> Table:
    peers = tuple(dict.fromkeys(goal.peer for goal in GOALS if goal.peer in results.subjects))
    columns: dict[str, dict[str, list[Judged]]] = {}
    for ours in OURS:
        judged = [*judge(results, ours), *judge_floors(results, ours)]
        columns[ours] = {peer: [each for each in judged if each.peer == peer] for peer in peers}
        columns[ours]["floors"] = [each for each in judged if each.peer.startswith("floor")]
    rows = [(peer, *(_counted(columns[ours][peer]) for ours in OURS)) for peer in (*peers, "floors")]
    idle = []
    for ours in OURS:
        used, met = idle_goal(results, ours)
        idle.append("-" if used is None else f"{100 * used.median:.2f} %: {_met(met)}")
    rows.append((f"idle reader, under {100 * IDLE_MOST:.0f} % of a processor", *idle))
    return Table("Goals: cells met, of those measured", ("against", *OURS), tuple(rows))


def _counted(judged: list[Judged]) -> str:
    known = [each for each in judged if each.met is not None]
    return f"{sum(each.met is True for each in known)} of {len(known)}" if known else "-"


def _times(results: Results) -> list[Table]:
    found = []
    wanted: tuple[tuple[str, str, str], ...] = (
        ("back", "us", "Until all have it, back to back, µs"),
        ("paced", "us", "Until all have it, one batch each 2.5 ms, µs"),
        ("paced", "cpu_us", "Processor time for one batch of all processes, one batch each 2.5 ms, µs"),
        ("flow", "per_s", "Batches per second, nobody waited for"),
    )
    columns = ("", *map(bytes_text, results.sizes))
    for load, what, title in wanted:
        for ranks in results.ranks:
            rows = [
                (name, *(_cell(results.values(name, ranks, size, load, what)) for size in results.sizes))
                for name in results.subjects
            ]
            found.append(Table(f"{title}, N = {ranks}", columns, tuple(rows)))
    return found


def _crowded(results: Results) -> Table:
    rows: list[tuple[str, ...]] = []
    for (name, ranks, size), crowded in results.of_load("crowded").items():
        alone = results.values(name, ranks, size, "back")
        rows.append((name, str(ranks), bytes_text(size), _cell(alone), _cell(crowded), _spread(ratio(alone, crowded))))
    title = "Back to back on a crowded machine, another process computing on each processor, µs"
    return Table(title, ("", "N", "payload", "alone", "crowded", "ratio"), tuple(rows))


def _looking(results: Results) -> Table:
    rows: list[tuple[str, ...]] = []
    size = 4096 if 4096 in results.sizes else min(results.sizes)
    for name in results.subjects:
        for ranks in results.ranks:
            asleep, looking = (results.values(name, ranks, size, load) for load in ("back", "looking"))
            if looking:
                rows.append((name, str(ranks), _cell(asleep), _cell(looking), _spread(ratio(asleep, looking))))
    title = f"The measuring itself, {bytes_text(size)}: a writer that sleeps until all have it, and one that looks, µs"
    return Table(title, ("", "N", "asleep", "looking", "ratio"), tuple(rows))


def _waiting(results: Results) -> Table:
    rows = [
        (row["subject"], *(_spread(figure([100 * each for each in row[key]])) for key in ("reader", "helpers")))
        for row in results.data["idle"]
    ]
    return Table(
        "An idle reader, and the processes that serve it, % of a processor", ("", "reader", "host"), tuple(rows)
    )


def _clients(results: Results) -> Table:
    rows = [
        (row["subject"], str(row["ranks"]), _cell(row["connect_ms"]), _cell(row["memory_kib"]))
        for row in results.data["clients"]
        if row["ranks"] == max(results.ranks)
    ]
    title = "Connecting one client, ms, and the memory that it adds to its process, its modules included, KiB"
    return Table(title, ("", "N", "connecting", "memory"), tuple(rows))


def _barriers(results: Results) -> Table:
    found: dict[tuple[str, int], list[float]] = {
        (row["subject"], row["ranks"]): row["us"] for row in results.data["barriers"]
    }
    rows = []
    for (name, ranks), values in found.items():
        text = "-"
        if name in OUR_BARRIERS and (slow := found.get((PROXIES[0], ranks))):
            times = ratio(values, slow)
            text = f"{amount(times.median)}"
            if ranks >= 4:
                text += f" of {BARRIER_TIMES}: {_met(times.median >= BARRIER_TIMES)}"
        rows.append((name, str(ranks), _cell(values), text))
    return Table("A round of a barrier, µs", ("", "N", "round", "times faster than proxies over TCP"), tuple(rows))


def _floors(results: Results) -> Table:
    rows: list[tuple[str, ...]] = [("hand-off and back", "", _cell(results.data["floors"]["hand_off_us"]))]
    for row in results.data["floors"]["sizes"]:
        for key, name in (("dumps_us", "pickle.dumps"), ("loads_us", "pickle.loads"), ("copy_us", "one copy")):
            rows.append((name, bytes_text(row["bytes"]), _cell(row[key])))
    return Table("Floors: what nobody can do without, µs", ("", "payload", "time"), tuple(rows))


def _tcp(results: Results) -> Table:
    tcp: dict[str, Any] = results.data["tcp"]
    rows = [
        (bytes_text(size), amount(stock), amount(ours))
        for size, stock, ours in zip(tcp["bytes"], tcp["stock"], tcp["ours"], strict=True)
    ]
    title = "A message over TCP, ms: one call of a stock BaseManager; fdcomm's put and get, which are two"
    return Table(title, ("payload", "stock", "fdcomm"), tuple(rows))


def goal_tables(results: Results, ours: str) -> list[Table]:
    """Return for each peer the goal of every cell, with what was found."""
    found = []
    judged = [*judge(results, ours), *judge_floors(results, ours)]
    for peer in dict.fromkeys(each.peer for each in judged if each.found is not None):
        cells = {(each.load, each.size, each.ranks): each for each in judged if each.peer == peer}
        rows = []
        for load, size in dict.fromkeys((load, size) for load, size, _ in cells):
            texts = []
            for ranks in results.ranks:
                each = cells.get((load, size, ranks))
                known = each is not None and each.found is not None
                texts.append(_judged(each) if each is not None and known else "-")
            rows.append((_LOADS[load], bytes_text(size), *texts))
        columns = ("", "payload", *(f"N = {ranks}" for ranks in results.ranks))
        found.append(Table(f"{ours} against {peer}", columns, tuple(rows)))
    return found


def _judged(each: Judged) -> str:
    assert each.found is not None
    return f"{amount(each.found.median)} of {each.wanted:.3g}: {_met(each.met)}"
