"""The checks of the FMQ queue at the levels V2 to V6; V1 and V7 are listed by the manifest and by the register."""

from __future__ import annotations

from models.dispatch_trace import accept
from models.fmq import Fmq
from tests.conformance.fmq_core import drive_core
from tests.conformance.fmq_plans import CORE, CORE_LARGE, bounds
from tests.refine import fmq_graphs
from tests.schedules.fmq_programs import PROGRAMS, SLOW
from tests.schedules.fmq_races import RACES, race
from tests.stateful.fmq_machine import run_core, run_handles
from tests.traces import fmq_runs
from tests.traces.fmq_real import WINDOW, real_run
from tests.verify import graph_rows, race_rows, rows, trace_rows
from tests.verify.check import Check, Row
from tla.fmq_trace import judge

__all__ = ("checks",)

_SEED = 20_701
_P = "fmq"
_CORE, _HANDLES = "cores beside the model, random runs", "real handles over a network that breaks, judged, random runs"
_JUDGED = "random runs of real handles, and altered ones: TLC and model"
_REAL = "real processes over real sockets, killed and replaced: TLC and model"
_SMALL_GRAPHS = {("FIXED", "1 message"), ("SHIPPED", "payload-lost")}
# What the machine of handles always does or sees in the end.
_SEEN = {"Put", "Connect", "Take", "Finish", "Acknowledge", "HearAck", "StartConsumer", "EndConsumer", "End", "Cut"}


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    return graph_rows.graph_checks(_P, fmq_graphs, _graph, size, _SMALL_GRAPHS)


def _graph(kind: str, name: str) -> Row:
    return graph_rows.listed_graph(_P, f"{kind}: {name}", fmq_graphs, kind, name)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    plans = list(CORE) if size == "small" else [*CORE, *CORE_LARGE]
    return [Check(_P, "V3", f"cores, every edge: {plan}", _core_edges, (plan,)) for plan in plans]


def _core_edges(plan: str) -> Row:
    config = {**CORE, **CORE_LARGE}[plan]
    return rows.whole_core(_P, f"cores, every edge: {plan}", bounds(config), drive_core(config))


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    core, handles = ((40, 60), (30, 40)) if size == "small" else ((2000, 80), (600, 60))
    return [Check(_P, "V4", what, _runs, (what, *runs)) for what, runs in ((_CORE, core), (_HANDLES, handles))]


def _runs(what: str, examples: int, steps: int) -> Row:
    if what == _CORE:
        return rows.random_runs(_P, what, run_core, set(Fmq().actions), examples, steps)
    return rows.random_runs(_P, what, run_handles, _SEEN, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    names = [name for name in PROGRAMS if size == "large" or name not in SLOW]
    found = [Check(_P, "V5", name, _schedules, (name,)) for name in names]
    return found + [Check(_P, "V5", race_rows.race_name(name), _race, (name,)) for name in RACES]


def _race(name: str) -> Row:
    _, wanted, bound = RACES[name]
    return race_rows.explored(_P, race_rows.race_name(name), race, name, bound, verdict=wanted)


def _schedules(name: str) -> Row:
    return rows.schedules(_P, name, *PROGRAMS[name])


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    found = [Check(_P, "V6", _JUDGED, _judged, (12, 60) if size == "small" else (200, 150))]
    return [*found, Check(_P, "V6", _REAL, _real, (2, 30) if size == "small" else (30, 60))]


def _real(count: int, acts: int) -> Row:
    good = [real_run(_SEED + number, acts) for number in range(count)]
    bad = {
        name: fmq_runs.ALTERED[name](good[0])
        for name in ("a put is forgotten", "a message is given twice", "two consumers")
    }
    text = f"2 producers at a time, window {WINDOW}, every third message large, seed {_SEED}, {acts} acts each"
    return rows.judged(_P, _REAL, text, good, bad, judge, lambda run: accept(fmq_runs.lines_of(run))[0])


def _judged(count: int, acts: int) -> Row:
    text = f"1 producer, window 4, every third message large, seed {_SEED}, {acts} acts each"
    drawn = [fmq_runs.random_run(_SEED + number, acts) for number in range(count)]
    return trace_rows.judged_random(_P, _JUDGED, text, fmq_runs, drawn, fmq_runs.EVENTS, judge, accept)
