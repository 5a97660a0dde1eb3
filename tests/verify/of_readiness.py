"""The checks of readiness at the levels V2 to V6; V1 and V7 are listed by the manifest and the register."""

from __future__ import annotations

from collections.abc import Callable

from models.readiness import Config, Readiness
from models.readiness_trace import accept
from tests.conformance.readiness_core import drive_core
from tests.conformance.readiness_plans import CORE, CORE_LARGE, SERVICE, SERVICE_LARGE, bounds
from tests.conformance.readiness_service import drive_service
from tests.refine.readiness_graphs import FAULTY, FIXED, LARGE, SHIPPED, UNGUARDED, compared, compared_shipped
from tests.schedules.readiness_programs import LARGER, PROGRAMS
from tests.schedules.readiness_races import RACES, race
from tests.stateful.readiness_host_machine import run_host
from tests.stateful.readiness_machine import run_core
from tests.traces import readiness_runs
from tests.verify import race_rows, rows, trace_rows
from tests.verify.check import Check, Row
from tla.readiness_trace import judge

__all__ = ("checks",)

SEED = 20_305
P = "readiness"
_ACTIONS = set(Readiness().actions)
_ENVIRONMENT = {"Crash", "Cut", "LateWord", "Age", "Beat", "GhostBeat"}
_Offer = tuple[str, Callable[..., Row], tuple[object, ...]]
# Programs of many schedules are left to the nightly verification.
_SLOW = ("2 parts come up", "a cancel")


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return [Check(P, level, what, run, args) for what, run, args in offers[level](size)] if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _configs() -> dict[str, Config]:
    faulty = {f"without {name}": config for name, config in FAULTY.items()}
    return {**FIXED, **LARGE, **faulty, "without any guard": UNGUARDED}


def _v2(size: str) -> list[_Offer]:
    fixed = FIXED if size == "small" else _configs()
    found: list[_Offer] = [(f"FIXED: {name}", _fixed, (name,)) for name in fixed]
    return found + [(f"SHIPPED: {name}", _shipped, (name,)) for name in SHIPPED]


def _fixed(name: str) -> Row:
    config = _configs()[name]
    return rows.graph(P, f"FIXED: {name}", bounds(config), *compared(config))


def _shipped(name: str) -> Row:
    config = SHIPPED[name]
    return rows.graph(P, f"SHIPPED: {name}", rows.shown(config.constants()), *compared_shipped(config))


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[_Offer]:
    core = CORE if size == "small" else {**CORE, **CORE_LARGE}
    service = SERVICE if size == "small" else {**SERVICE, **SERVICE_LARGE}
    found: list[_Offer] = [(f"core, every edge: {name}", _core, (name,)) for name in core]
    return found + [(rows.host_name(name), _service, (name,)) for name in service]


def _core(name: str) -> Row:
    config = {**CORE, **CORE_LARGE}[name]
    return rows.whole_core(P, f"core, every edge: {name}", bounds(config), drive_core(config))


def _service(name: str) -> Row:
    config = {**SERVICE, **SERVICE_LARGE}[name]
    hidden = "start inside one of its critical sections, or are due after what the host takes first"
    return rows.host_edges(P, rows.host_name(name), bounds(config), drive_service(config), hidden)


# -- V4 ------------------------------------------------------------------------------------------------------------

_CORE, _HOST = "core beside the model, random runs", "real host beside the model, random runs"


def _v4(size: str) -> list[_Offer]:
    core, host = ((40, 30), (8, 14)) if size == "small" else ((1500, 80), (80, 40))
    return [(_CORE, _random, (_CORE, *core)), (_HOST, _random, (_HOST, *host))]


def _random(what: str, examples: int, steps: int) -> Row:
    run, wanted = (run_core, _ACTIONS) if what == _CORE else (run_host, _ACTIONS - _ENVIRONMENT)
    return rows.random_runs(P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[_Offer]:
    names = [name for name in PROGRAMS if size == "large" or name not in _SLOW]
    found: list[_Offer] = [(name, _schedules, (name,)) for name in names]
    executions = 20 if size == "small" else 2000
    found += [(f"{name}, random schedules", _random_schedules, (name, executions)) for name in LARGER]
    return found + [(_race_name(name), _schedule_race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    return rows.schedules(P, name, *PROGRAMS[name])


def _random_schedules(name: str, executions: int) -> Row:
    return rows.random_schedules(P, name, LARGER[name], SEED, executions)


def _race_name(name: str) -> str:
    return race_rows.race_name(name, "shipped flags")


def _schedule_race(name: str) -> Row:
    return race_rows.explored(P, _race_name(name), race, name, verdict="invariant")


# -- V6 ------------------------------------------------------------------------------------------------------------

_RUNS = "a run of a real host, random runs of the model, and altered ones: TLC and model"


def _v6(size: str) -> list[_Offer]:
    return [(_RUNS, _runs, (3 if size == "small" else 80,))]


def _runs(count: int) -> Row:
    drawn = [readiness_runs.random_run(SEED + number, 60) for number in range(count)]
    return trace_rows.judged_real(P, _RUNS, f"seed {SEED}, 2 ranks, 2 components", readiness_runs, drawn, judge, accept)
