"""The checks of the gate at the levels V2 to V6; V1 and V7 are listed by the manifest and by the register."""

from __future__ import annotations

from typing import Any

from fdcomm.testing import Bound
from models.acceptance import Verdict
from models.dispatch_trace import accept
from models.gate import Config, Gate
from tests.conformance.gate_core import drive_core
from tests.conformance.gate_plans import CORE, CORE_LARGE, SERVICE, bounds
from tests.conformance.gate_service import drive_service
from tests.refine import gate_graphs
from tests.schedules.gate_programs import PROGRAMS, RACES, race
from tests.stateful.gate_machine import run_core, run_host
from tests.traces.gate_runs import ACTIONS, ALTERED, is_whole, lines_of, random_run, real_runs
from tests.verify import graph_rows, race_rows, rows
from tests.verify.check import Check, Row
from tla.gate_trace import judge

__all__ = ("checks",)

_SEED = 20_301
_CORE, _HOST = "core beside the model, random runs", "real host beside the model, random runs"
_JUDGED = "runs of a real host, random runs of the model, and altered ones: TLC and model"


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    fixed = list(gate_graphs.FIXED)[:2] if size == "small" else list(gate_graphs.FIXED)
    found = [Check("gate", "V2", f"FIXED: {name}", _graph, ("FIXED", name)) for name in fixed]
    shipped = list(gate_graphs.SHIPPED)[:1] if size == "small" else list(gate_graphs.SHIPPED)
    found += [Check("gate", "V2", f"SHIPPED: {name}", _graph, ("SHIPPED", name)) for name in shipped]
    if size == "large":
        found.append(Check("gate", "V2", "FIXED without any guard", _graph, ("FIXED", "without any guard")))
        found.append(Check("gate", "V2", "Answers", _graph, ("ABSTRACT", "Answers")))
        found += [Check("gate", "V2", f"FIXED without {name}", _graph, ("FAULTY", name)) for name in gate_graphs.FAULTY]
    return found


def _graph(kind: str, name: str) -> Row:
    what = {"ABSTRACT": name, "FAULTY": f"FIXED without {name}", "SHIPPED": f"SHIPPED: {name}"}.get(
        kind, f"FIXED {name}" if name.startswith("without") else f"FIXED: {name}"
    )
    if kind == "ABSTRACT":
        shape = gate_graphs.ABSTRACT
        return rows.graph("gate", what, rows.numbers(shape.constants()), *gate_graphs.compared_abstract(shape))
    return graph_rows.listed_graph("gate", what, gate_graphs, kind, name)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    core = list(CORE) if size == "small" else [*CORE, *CORE_LARGE]
    found = [Check("gate", "V3", f"core, every edge: {plan}", _core_edges, (plan,)) for plan in core]
    for plan in SERVICE:
        found.append(Check("gate", "V3", f"host service, every edge that a host can take: {plan}", _service, (plan,)))
    return found


def _core_edges(plan: str) -> Row:
    config: Config = {**CORE, **CORE_LARGE}[plan]
    return rows.core_edges("gate", f"core, every edge: {plan}", bounds(config), drive_core(config))


def _service(plan: str) -> Row:
    what = f"host service, every edge that a host can take: {plan}"
    hidden = "are inside a critical section, where a rank is claimed by its answer"
    return rows.host_edges("gate", what, bounds(SERVICE[plan]), drive_service(SERVICE[plan]), hidden)


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    small = size == "small"
    return [
        Check("gate", "V4", _CORE, _core_runs, (50 if small else 3000, 40 if small else 100)),
        Check("gate", "V4", _HOST, _host_runs, (40 if small else 300, 30 if small else 60)),
    ]


def _core_runs(examples: int, steps: int) -> Row:
    return rows.random_runs("gate", _CORE, run_core, set(Gate().actions), examples, steps)


def _host_runs(examples: int, steps: int) -> Row:
    return rows.random_runs("gate", _HOST, run_host, ACTIONS, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


_LONG = {"2 engines"}
"""Programs with many schedules: ``make test`` and the large verification explore them."""


def _v5(size: str) -> list[Check]:
    programs = [name for name in PROGRAMS if size == "large" or name not in _LONG]
    found = [Check("gate", "V5", name, _schedules, (name,)) for name in programs]
    return found + [Check("gate", "V5", race_rows.race_name(name), _race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    return rows.schedules("gate", name, *PROGRAMS[name])


def _race(name: str) -> Row:
    bound = Bound(preemptions=2, max_steps=300)
    return race_rows.explored("gate", race_rows.race_name(name), race, name, bound, verdict=RACES[name][1])


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    rounds, runs = (5, 6) if size == "small" else (200, 100)
    return [Check("gate", "V6", _JUDGED, _judged, (rounds, runs))]


def _judged(rounds: int, number: int) -> Row:
    real = real_runs(rounds)
    drawn = [random_run(_SEED + run, 2 + run % 2, 60) for run in range(number)]
    whole = next(run for seed in range(7, 207) if is_whole(run := random_run(seed, 2, 80)))
    altered = {name: change(whole) for name, change in ALTERED.items()}
    problems = []
    for of_whom, some in (("a real host's runs", real), ("random runs", drawn)):
        absent = sorted(ACTIONS - {event["action"] for run in some for event in run})
        problems += [f"never occurred in {of_whom}: {absent}"] if absent else []
    good, bounds = [*real, *drawn], f"{len(real) + number} runs, seed {_SEED}"
    return rows.judged("gate", _JUDGED, bounds, good, altered, judge, _model, problems)


def _model(run: list[dict[str, Any]]) -> Verdict:
    (verdict,) = accept(lines_of(run))
    return verdict
