"""The checks of the control protocol at the levels V2 to V6; V1 and V7 are listed by the manifest and the register."""

from __future__ import annotations

from models.control import Control
from models.dispatch_trace import accept
from tests.conformance.control_core import drive_core
from tests.conformance.control_plans import CORE, CORE_LARGE, SERVICE, SERVICE_LARGE, bounds
from tests.conformance.control_service import drive_service
from tests.refine import control_graphs
from tests.schedules.control_programs import LARGER, PROGRAMS
from tests.schedules.control_races import BOUND, RACES, race
from tests.stateful.control_machine import run_core, run_host
from tests.traces import control_runs
from tests.verify import graph_rows, race_rows, rows, trace_rows
from tests.verify.check import Check, Row
from tla.control_trace import judge

__all__ = ("checks",)

_SEED = 20_305
_P = "control"
_CORE, _HOST = "core beside the model, random runs", "real host beside the model, random runs"
_JUDGED = "a run of a real host, random runs of the model, and altered ones: TLC and model"
# Programs of many schedules are left to the nightly verification.
_QUICK = ("the first request is late", "a rank is lost and comes back", "close while it asks", "end of the host")


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    found = [Check(_P, "V2", f"FIXED: {name}", _graph, ("FIXED", name)) for name in control_graphs.FIXED]
    shipped = list(control_graphs.SHIPPED)[:1] if size == "small" else list(control_graphs.SHIPPED)
    found += [Check(_P, "V2", f"SHIPPED: {name}", _graph, ("SHIPPED", name)) for name in shipped]
    if size == "large":
        found.append(Check(_P, "V2", "FIXED without any guard", _graph, ("FIXED", "without any guard")))
        found += [Check(_P, "V2", f"FIXED without {name}", _graph, ("FAULTY", name)) for name in control_graphs.FAULTY]
    return found


def _graph(kind: str, name: str) -> Row:
    what = f"FIXED without {name}" if kind == "FAULTY" else f"{kind}: {name}"
    what = "FIXED without any guard" if name == "without any guard" else what
    return graph_rows.listed_graph(_P, what, control_graphs, kind, name)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    core = {**CORE, **CORE_LARGE} if size == "large" else {"2 ranks": CORE["2 ranks"]}
    service = {**SERVICE, **SERVICE_LARGE} if size == "large" else {"2 ranks": SERVICE["2 ranks"]}
    found = [Check(_P, "V3", f"core, every edge: {name}", _core, (name,)) for name in core]
    return found + [Check(_P, "V3", rows.host_name(name), _service, (name,)) for name in service]


def _core(name: str) -> Row:
    config = {**CORE, **CORE_LARGE}[name]
    return rows.whole_core(_P, f"core, every edge: {name}", bounds(config), drive_core(config))


def _service(name: str) -> Row:
    config = {**SERVICE, **SERVICE_LARGE}[name]
    hidden = "start inside of a critical section"
    return rows.host_edges(_P, rows.host_name(name), bounds(config), drive_service(config), hidden)


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    core, host = ((30, 40), (8, 30)) if size == "small" else ((2000, 100), (300, 50))
    return [Check(_P, "V4", what, _random, (what, *size)) for what, size in ((_CORE, core), (_HOST, host))]


def _random(what: str, examples: int, steps: int) -> Row:
    actions = set(Control().actions)
    run, wanted = (run_core, actions) if what == _CORE else (run_host, actions - {"Crash"})
    return rows.random_runs(_P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    names = list(PROGRAMS) if size == "large" else list(_QUICK)
    executions = 2000 if size == "large" else 40
    found = [Check(_P, "V5", name, _schedules, (name,)) for name in names]
    found += [Check(_P, "V5", f"{name}, random schedules", _random_schedules, (name, executions)) for name in LARGER]
    return found + [Check(_P, "V5", _race_name(name), _schedule_race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    return rows.schedules(_P, name, *PROGRAMS[name])


def _random_schedules(name: str, executions: int) -> Row:
    return rows.random_schedules(_P, name, LARGER[name], _SEED, executions)


def _race_name(name: str) -> str:
    return race_rows.race_name(name, "shipped steps")


def _schedule_race(name: str) -> Row:
    return race_rows.explored(_P, _race_name(name), race, name, BOUND, verdict="error")


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    return [Check(_P, "V6", _JUDGED, _runs, (4 if size == "small" else 60,))]


def _runs(count: int) -> Row:
    drawn = [control_runs.random_run(_SEED + number, 2, 60) for number in range(count)]
    return trace_rows.judged_real(_P, _JUDGED, f"seed {_SEED}, 2 ranks", control_runs, drawn, judge, accept)
