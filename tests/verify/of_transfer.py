"""The checks of the transfer protocol at the levels V2 to V6; V1 and V7 are listed by the manifest and the register."""

from __future__ import annotations

from typing import Any

from models.dispatch_trace import accept
from models.transfer import Transfer
from tests.conformance.transfer_core import drive_core
from tests.conformance.transfer_plans import CORE, CORE_LARGE, SERVICE, SERVICE_LARGE, bounds
from tests.conformance.transfer_service import drive_service
from tests.refine import transfer_graphs
from tests.schedules.transfer_programs import LARGER, PROGRAMS, THOROUGH
from tests.stateful.transfer_host_machine import run_host
from tests.stateful.transfer_machine import run_core
from tests.traces import transfer_runs
from tests.verify import rows, trace_rows
from tests.verify.check import Check, Row
from tla.transfer_trace import judge

__all__ = ("checks",)

_SEED = 20_308
_P = "transfer"
_CORE, _HOST = "cores beside the model, random runs", "real host beside the model, random runs"
_JUDGED = "a run of a real host, random runs of the model, and altered ones: TLC and model"
# Programs of many schedules are left to the nightly verification.
_QUICK = ("a rank refuses", "a withdrawal meets the start", "a client stops waiting", "end of the host", "a loop")


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    large = size == "large"
    fixed = [*transfer_graphs.FIXED, *(transfer_graphs.LARGE if large else ())]
    shipped = [*transfer_graphs.SHIPPED, *(transfer_graphs.SHIPPED_LARGE if large else ())]
    found = [Check(_P, "V2", f"FIXED: {name}", _graph, ("FIXED", name)) for name in fixed]
    found += [Check(_P, "V2", f"SHIPPED: {name}", _graph, ("SHIPPED", name)) for name in shipped]
    if large:
        found.append(Check(_P, "V2", "FIXED without any guard", _graph, ("FIXED", "without any guard")))
        found += [Check(_P, "V2", f"FIXED without {name}", _graph, ("FAULTY", name)) for name in transfer_graphs.FAULTY]
    return found


def _graph(kind: str, name: str) -> Row:
    wanted: Any
    difference: Any
    config: Any
    if kind == "SHIPPED":
        config = {**transfer_graphs.SHIPPED, **transfer_graphs.SHIPPED_LARGE}[name]
        wanted, difference = transfer_graphs.compared_shipped(config)
        return rows.graph(_P, f"SHIPPED: {name}", rows.numbers(config.constants()), wanted, difference)
    known = {**transfer_graphs.FIXED, **transfer_graphs.LARGE}
    config = {**known, **transfer_graphs.FAULTY}.get(name, transfer_graphs.UNGUARDED)
    what = f"FIXED without {name}" if kind == "FAULTY" else f"FIXED: {name}" if name in known else f"FIXED {name}"
    wanted, difference = transfer_graphs.compared(config)
    return rows.graph(_P, what, rows.numbers(config.constants()), wanted, difference)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    core = {**CORE, **CORE_LARGE} if size == "large" else CORE
    service = {**SERVICE, **SERVICE_LARGE} if size == "large" else SERVICE
    found = [Check(_P, "V3", f"cores, every edge: {name}", _core, (name,)) for name in core]
    return found + [Check(_P, "V3", rows.host_name(name), _service, (name,)) for name in service]


def _core(name: str) -> Row:
    config = {**CORE, **CORE_LARGE}[name]
    return rows.whole_core(_P, f"cores, every edge: {name}", bounds(config), drive_core(config))


def _service(name: str) -> Row:
    config = {**SERVICE, **SERVICE_LARGE}[name]
    hidden = "start inside of a critical section"
    return rows.host_edges(_P, rows.host_name(name), bounds(config), drive_service(config), hidden)


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    core, host = ((30, 50), (8, 40)) if size == "small" else ((2000, 100), (300, 50))
    return [Check(_P, "V4", what, _random, (what, *size)) for what, size in ((_CORE, core), (_HOST, host))]


def _random(what: str, examples: int, steps: int) -> Row:
    actions = set(Transfer().actions)
    # A client of a real host's run goes only when the run is over; tests/traces has one that goes before.
    run, wanted = (run_core, actions) if what == _CORE else (run_host, actions - transfer_runs.INSIDE - {"Gone"})
    return rows.random_runs(_P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    names = [*PROGRAMS, *THOROUGH] if size == "large" else list(_QUICK)
    executions = 2000 if size == "large" else 10
    found = [Check(_P, "V5", name, _schedules, (name,)) for name in names]
    return found + [
        Check(_P, "V5", f"{name}, random schedules", _random_schedules, (name, executions)) for name in LARGER
    ]


def _schedules(name: str) -> Row:
    return rows.schedules(_P, name, *{**PROGRAMS, **THOROUGH}[name])


def _random_schedules(name: str, executions: int) -> Row:
    return rows.random_schedules(_P, name, LARGER[name], _SEED, executions)


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    return [Check(_P, "V6", _JUDGED, _runs, (2 if size == "small" else 60,))]


def _runs(count: int) -> Row:
    drawn = [transfer_runs.random_run(_SEED + number, 2, 60) for number in range(count)]
    return trace_rows.judged_real(_P, _JUDGED, f"seed {_SEED}, 2 ranks", transfer_runs, drawn, judge, accept)
