"""The checks of block lists at the levels V2 to V6; V1 and V7 are listed by the manifest and by the register."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from fdcomm.blocks import BLOCKS_EVENTS
from models.blocks import Blocks
from models.dispatch_trace import accept
from tests.conformance.blocks_core import drive_core
from tests.conformance.blocks_plans import CORE, CORE_LARGE, bounds
from tests.multiproc.cache_group import run_group
from tests.refine import blocks_graphs
from tests.schedules.blocks_programs import LONG, PROGRAMS
from tests.schedules.blocks_races import RACES, race
from tests.stateful.blocks_machine import run_client, run_core
from tests.traces import blocks_runs
from tests.traces.events import runs_of
from tests.verify import graph_rows, race_rows, rows, trace_rows
from tests.verify.check import Check, Row
from tla.blocks_trace import judge

__all__ = ("checks",)

_SEED = 20_611
_P = "blocks"
_CORE, _CLIENT = "core beside the model, random runs", "real lists, client and threads, judged, random runs"
_JUDGED = "random runs of the client with its threads, and altered ones: TLC and model"
_GROUP = "a cache group of real processes under pauses, clears, updates and kills: TLC and model"
_SMALL_GRAPHS = {("FIXED", "2 blocks, 1 task, 1 reset")}
# Many schedules: two seconds and more of processor time each.
_SLOW = {*LONG, "a reset of paused ranks", "somebody waits for a block"}


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    return graph_rows.graph_checks(_P, blocks_graphs, _graph, size, _SMALL_GRAPHS)


def _graph(kind: str, name: str) -> Row:
    return graph_rows.listed_graph(_P, f"{kind}: {name}", blocks_graphs, kind, name)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    plans = [next(iter(CORE))] if size == "small" else [*CORE, *CORE_LARGE]
    return [Check(_P, "V3", f"core, every edge: {plan}", _core_edges, (plan,)) for plan in plans]


def _core_edges(plan: str) -> Row:
    config = {**CORE, **CORE_LARGE}[plan]
    return rows.whole_core(_P, f"core, every edge: {plan}", bounds(config), drive_core(config))


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    core, client = ((40, 50), (60, 50)) if size == "small" else ((2000, 80), (600, 80))
    return [Check(_P, "V4", what, _runs, (what, *runs)) for what, runs in ((_CORE, core), (_CLIENT, client))]


def _runs(what: str, examples: int, steps: int) -> Row:
    run, wanted = (run_core, set(Blocks().actions)) if what == _CORE else (run_client, set(BLOCKS_EVENTS))
    return rows.random_runs(_P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    names = [name for name in PROGRAMS if size == "large" or name not in _SLOW]
    found = [Check(_P, "V5", name, _schedules, (name,)) for name in names]
    return found + [Check(_P, "V5", race_rows.race_name(name), _race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    return rows.schedules(_P, name, *PROGRAMS[name])


def _race(name: str) -> Row:
    _, wanted, bound = RACES[name]
    return race_rows.explored(_P, race_rows.race_name(name), race, name, bound, verdict=wanted)


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    runs = (4, 40) if size == "small" else (100, 150)
    found = [Check(_P, "V6", _JUDGED, _judged, runs)]
    return found if size == "small" else [*found, Check(_P, "V6", _GROUP, _group)]


def _judged(count: int, acts: int) -> Row:
    text = f"3 device and 2 host blocks, seed {_SEED}, {acts} acts each"
    drawn = [blocks_runs.random_run(_SEED + number, acts) for number in range(count)]
    return trace_rows.judged_random(_P, _JUDGED, text, blocks_runs, drawn, BLOCKS_EVENTS, judge, accept)


def _group() -> Row:
    """The program of docs/cache-group.md; the other channels of its host are the other protocols' business."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-group-") as name:
        run = run_group(Path(name), _SEED, 25)
        lines = runs_of(Path(name) / "blocks.ndjson")["blocks"]
        (by_tlc,) = judge([lines])
    verdicts: tuple[Any, ...] = (by_tlc, *run.verdicts)
    wrong = [str(verdict) for verdict in verdicts if not verdict.accepted]
    wrong += [] if run.printed == "True [] True\n" else [f"it printed {run.printed}"]
    return Row(
        _P,
        "V6",
        _GROUP,
        ok=not wrong,
        edges=len(lines) - 1,
        bounds=f"2 ranks, 6 device and 6 host blocks, 25 disturbances, seed {_SEED}",
        detail="; ".join(wrong)[:500].replace("\n", " ") or run.counted.strip(),
    )
