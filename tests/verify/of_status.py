"""V2 to V6 of clearing and restoring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from models.status import Config, Status
from models.status_trace import accept
from tests.conformance.status_core import drive_core
from tests.conformance.status_plans import CORE_LARGE, CORE_SMALL, SERVICE, SERVICE_LARGE, bounds
from tests.conformance.status_service import drive_service
from tests.refine.status_graphs import (
    FAULTY,
    FIXED,
    LARGE,
    SHIPPED,
    SHIPPED_LARGE,
    UNGUARDED,
    compared,
    compared_shipped,
)
from tests.schedules.status_programs import LARGER, PROGRAMS
from tests.schedules.status_races import RACES, race
from tests.stateful.status_host_machine import run_host
from tests.stateful.status_machine import run_core
from tests.traces.status_runs import ALTERED, lines_of, random_run, real_runs, whole_run
from tests.verify import published, race_rows, rows
from tests.verify.check import Check, Row
from tla.status_trace import judge

__all__ = ("checks",)

SEED = 20_305
P = "status"
S = TypeVar("S", bound=tuple[Any, ...])
_ACTIONS = set(Status().actions)


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level. V1 and V7 read the manifest and the register."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return [Check(P, level, what, run, args) for what, run, args in offers[level](size)] if level in offers else []


_Offer = tuple[str, Callable[..., Row], tuple[object, ...]]


# -- V2 ------------------------------------------------------------------------------------------------------------


def _configs() -> dict[str, Config]:
    faulty = {f"without {name}": config for name, config in FAULTY.items()}
    return {**FIXED, **LARGE, **faulty, "without any guard": UNGUARDED}


def _v2(size: str) -> list[_Offer]:
    fixed, shipped = (FIXED, SHIPPED) if size == "small" else (_configs(), {**SHIPPED, **SHIPPED_LARGE})
    found: list[_Offer] = [(f"FIXED: {name}", _fixed, (name,)) for name in fixed]
    found += [(f"SHIPPED: {name}", _shipped, (name,)) for name in shipped]
    return found + published.offers(P, size)


def _fixed(name: str) -> Row:
    config = _configs()[name]
    return rows.graph(P, f"FIXED: {name}", bounds(config), *compared(config))


def _shipped(name: str) -> Row:
    config = {**SHIPPED, **SHIPPED_LARGE}[name]
    text = f"NW={config.workers} NS={config.movers} MaxAsked={config.max_asked}"
    return rows.graph(P, f"SHIPPED: {name}", text, *compared_shipped(config))


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[_Offer]:
    core = CORE_SMALL if size == "small" else {**CORE_SMALL, **CORE_LARGE}
    service = SERVICE if size == "small" else {**SERVICE, **SERVICE_LARGE}
    found: list[_Offer] = [(f"core, every edge: {name}", _core, (name,)) for name in core]
    return found + [(rows.host_name(name), _service, (name,)) for name in service]


def _core(name: str) -> Row:
    config = {**CORE_SMALL, **CORE_LARGE}[name]
    return rows.core_edges(P, f"core, every edge: {name}", bounds(config), drive_core(config))


def _service(name: str) -> Row:
    config = {**SERVICE, **SERVICE_LARGE}[name]
    hidden = "start inside one of its critical sections"
    return rows.host_edges(P, rows.host_name(name), bounds(config), drive_service(config), hidden)


# -- V4 ------------------------------------------------------------------------------------------------------------

_CORE, _HOST = "core beside the model, random runs", "real host beside the model, random runs"


def _v4(size: str) -> list[_Offer]:
    core, host = ((25, 20), (8, 12)) if size == "small" else ((1000, 60), (150, 40))
    return [(_CORE, _random, (_CORE, *core)), (_HOST, _random, (_HOST, *host))]


def _random(what: str, examples: int, steps: int) -> Row:
    run, wanted = (run_core, _ACTIONS) if what == _CORE else (run_host, _ACTIONS - {"Crash"})
    return rows.random_runs(P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[_Offer]:
    found: list[_Offer] = [(name, _schedules, (name,)) for name in PROGRAMS]
    executions = 40 if size == "small" else 3000
    found += [(f"{name}, random schedules", _random_schedules, (name, executions)) for name in LARGER]
    return found + [(_race_name(name), _schedule_race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    return rows.schedules(P, name, *PROGRAMS[name])


def _random_schedules(name: str, executions: int) -> Row:
    return rows.random_schedules(P, name, LARGER[name], SEED, executions)


def _race_name(name: str) -> str:
    return race_rows.race_name(name, "shipped words")


def _schedule_race(name: str) -> Row:
    return race_rows.explored(P, _race_name(name), race, name, verdict="invariant")


# -- V6 ------------------------------------------------------------------------------------------------------------

_RUNS = "runs of a real host, random runs of the model, and altered ones: TLC and model"


def _v6(size: str) -> list[_Offer]:
    return [(_RUNS, _runs, (3 if size == "small" else 100,))]


def _runs(count: int) -> Row:
    good = [*real_runs(), *(random_run(SEED + number, 60) for number in range(count))]
    whole = whole_run()
    bad = {name: change(whole) for name, change in ALTERED.items()}
    bounds = f"seed {SEED}, 2 ranks, 3 components"
    return rows.judged(P, _RUNS, bounds, good, bad, judge, lambda run: accept(lines_of(run))[0])
