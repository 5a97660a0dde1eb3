"""The checks of the mailbox protocol at the levels V2 to V6; V1 and V7 are listed by the manifest and the register."""

from __future__ import annotations

from fdcomm.mailbox.results import MAILBOX_EVENTS
from models.dispatch_trace import accept
from models.mailbox import Mailbox
from tests.conformance.mailbox_core import drive_core
from tests.conformance.mailbox_plans import CORE, CORE_LARGE, bounds
from tests.refine import mailbox_graphs
from tests.schedules.mailbox_programs import LONG, PROGRAMS
from tests.schedules.mailbox_races import RACES, race
from tests.stateful.mailbox_machine import run_core, run_server
from tests.traces import mailbox_runs
from tests.verify import graph_rows, race_rows, rows, trace_rows
from tests.verify.check import Check, Row
from tla.mailbox_trace import judge

__all__ = ("checks",)

_SEED = 20_741
_P = "mailbox"
_CORE, _SERVER = "core beside the model, random runs", "the server's bookkeeping, judged, random runs"
_JUDGED = "random runs in which others act while a message is sent, and altered ones: TLC and model"
_SMALL_GRAPHS = {("FIXED", "1 request, 1 client"), ("FIXED", "1 request, 2 clients"), ("SHIPPED", "guarded")}


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    return graph_rows.graph_checks(_P, mailbox_graphs, _graph, size, _SMALL_GRAPHS)


def _graph(kind: str, name: str) -> Row:
    return graph_rows.listed_graph(_P, f"{kind}: {name}", mailbox_graphs, kind, name)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    plans = [next(iter(CORE))] if size == "small" else [*CORE, *CORE_LARGE]
    return [Check(_P, "V3", f"core, every edge: {plan}", _core_edges, (plan,)) for plan in plans]


def _core_edges(plan: str) -> Row:
    config = {**CORE, **CORE_LARGE}[plan]
    return rows.whole_core(_P, f"core, every edge: {plan}", bounds(config), drive_core(config))


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    core, server = ((40, 50), (40, 50)) if size == "small" else ((2000, 80), (600, 80))
    return [Check(_P, "V4", what, _runs, (what, *runs)) for what, runs in ((_CORE, core), (_SERVER, server))]


def _runs(what: str, examples: int, steps: int) -> Row:
    run, wanted = (run_core, set(Mailbox().actions)) if what == _CORE else (run_server, set(MAILBOX_EVENTS))
    return rows.random_runs(_P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    names = [*PROGRAMS] if size == "small" else [*PROGRAMS, *LONG]
    found = [Check(_P, "V5", name, _schedules, (name,)) for name in names]
    return found + [Check(_P, "V5", race_rows.race_name(name), _race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    return rows.schedules(_P, name, *{**PROGRAMS, **LONG}[name])


def _race(name: str) -> Row:
    _, wanted, bound = RACES[name]
    return race_rows.explored(_P, race_rows.race_name(name), race, name, bound, verdict=wanted)


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    return [Check(_P, "V6", _JUDGED, _judged, (6, 120) if size == "small" else (60, 400))]


def _judged(count: int, acts: int) -> Row:
    text = f"30 requests, 3 clients, seed {_SEED}, {acts} acts each"
    drawn = [mailbox_runs.random_run(_SEED + number, acts) for number in range(count)]
    return trace_rows.judged_random(_P, _JUDGED, text, mailbox_runs, drawn, MAILBOX_EVENTS, judge, accept)
