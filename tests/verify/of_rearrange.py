"""The checks of rearrange at the levels V2 to V6; V1 and V7 are listed by the manifest and by the register."""

from __future__ import annotations

from typing import Any

from fdcomm.testing import Bound
from models.acceptance import Verdict
from models.dispatch_trace import accept
from models.rearrange import Config, Rearrange
from tests.conformance.rearrange_core import drive_core
from tests.conformance.rearrange_plans import CORE, CORE_LARGE, SERVICE, bounds
from tests.conformance.rearrange_service import drive_service
from tests.refine import rearrange_graphs
from tests.schedules.rearrange_programs import PROGRAMS
from tests.schedules.rearrange_races import RACES, race
from tests.stateful.rearrange_machine import run_core, run_host
from tests.traces.rearrange_runs import ACTIONS, ALTERED, lines_of, random_run, real_run
from tests.verify import graph_rows, race_rows, rows
from tests.verify.check import Check, Row
from tla.rearrange_trace import judge

__all__ = ("checks",)

_SEED = 20_401
_CORE, _HOST = "core beside the model, random runs", "real host beside the model, random runs"
_JUDGED = "run of a real host, random runs of the model, and altered ones: TLC and model"
_TIMED = {"Withdraw", "EndTimeout"}


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    small = size == "small"
    fixed = list(rearrange_graphs.FIXED)[:1] if small else list(rearrange_graphs.FIXED)
    shipped = list(rearrange_graphs.SHIPPED)[:1] if small else list(rearrange_graphs.SHIPPED)
    names = [("FIXED", name) for name in fixed] + [("SHIPPED", name) for name in shipped]
    if not small:
        names += [("FIXED", "without any guard"), *(("FAULTY", name) for name in rearrange_graphs.FAULTY)]
    return [Check("rearrange", "V2", _graph_name(kind, name), _graph, (kind, name)) for kind, name in names]


def _graph_name(kind: str, name: str) -> str:
    return f"FIXED without {name}" if kind == "FAULTY" else f"{kind}: {name}"


def _graph(kind: str, name: str) -> Row:
    return graph_rows.listed_graph("rearrange", _graph_name(kind, name), rearrange_graphs, kind, name)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    core = list(CORE) if size == "small" else [*CORE, *CORE_LARGE]
    found = [Check("rearrange", "V3", f"core, every edge: {plan}", _core_edges, (plan,)) for plan in core]
    return found + [
        Check("rearrange", "V3", f"host service, every edge that a host can take: {plan}", _service, (plan,))
        for plan in SERVICE
    ]


def _core_edges(plan: str) -> Row:
    config: Config = {**CORE, **CORE_LARGE}[plan]
    return rows.core_edges("rearrange", f"core, every edge: {plan}", bounds(config), drive_core(config))


def _service(plan: str) -> Row:
    what, done = f"host service, every edge that a host can take: {plan}", drive_service(SERVICE[plan])
    hidden = "have nobody who could free what is done"
    return rows.host_edges("rearrange", what, bounds(SERVICE[plan]), done, hidden)


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    small = size == "small"
    return [
        Check("rearrange", "V4", _CORE, _core_runs, (40 if small else 2000, 30 if small else 80)),
        Check("rearrange", "V4", _HOST, _host_runs, (10 if small else 250, 20 if small else 50)),
    ]


def _core_runs(examples: int, steps: int) -> Row:
    return rows.random_runs("rearrange", _CORE, run_core, set(Rearrange().actions), examples, steps)


def _host_runs(examples: int, steps: int) -> Row:
    return rows.random_runs("rearrange", _HOST, run_host, ACTIONS - _TIMED, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    del size
    found = [Check("rearrange", "V5", name, _schedules, (name,)) for name in PROGRAMS]
    return found + [Check("rearrange", "V5", race_rows.race_name(name), _race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    return rows.schedules("rearrange", name, *PROGRAMS[name])


def _race(name: str) -> Row:
    bound = Bound(preemptions=2, max_steps=300)
    return race_rows.explored("rearrange", race_rows.race_name(name), race, name, bound, verdict=RACES[name][1])


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    ranks, runs = ((2,), 6) if size == "small" else ((1, 2, 3), 200)
    return [Check("rearrange", "V6", _JUDGED, _judged, (ranks, runs))]


def _judged(ranks: tuple[int, ...], number: int) -> Row:
    real = real_run()
    drawn = [random_run(_SEED + run, ranks[run % len(ranks)], 150) for run in range(number)]
    altered = {name: change(real) for name, change in ALTERED.items()}
    problems = []
    for of_whom, some in (("a real host's run", [real]), ("random runs", drawn)):
        absent = sorted(ACTIONS - {event["action"] for run in some for event in run})
        problems += [f"never occurred in {of_whom}: {absent}"] if absent else []
    bounds = f"{1 + number} runs of {', '.join(map(str, ranks))} ranks, seed {_SEED}"
    return rows.judged("rearrange", _JUDGED, bounds, [real, *drawn], altered, judge, _model, problems)


def _model(run: list[dict[str, Any]]) -> Verdict:
    (verdict,) = accept(lines_of(run))
    return verdict
