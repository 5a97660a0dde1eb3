"""V2 to V6 of pauses; V1 and V7 read the manifest and the register."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from models.dispatch_trace import accept
from models.pause import Pause
from tests.conformance.pause_core import drive_core
from tests.conformance.pause_plans import CORE, CORE_LARGE, SERVICE, SERVICE_LARGE, bounds
from tests.conformance.pause_service import drive_service
from tests.refine.pause_graphs import FAULTY, FIXED, FIXED_LARGE, SHIPPED, UNGUARDED, compared, compared_shipped
from tests.schedules.pause_programs import LARGER, PROGRAMS
from tests.schedules.pause_races import RACES, explored, race
from tests.stateful.pause_host_machine import run_host
from tests.stateful.pause_machine import run_core
from tests.traces.pause_altered import ALTERED, is_whole
from tests.traces.pause_runs import ACTIONS, lines_of, random_run, real_run
from tests.verify import published, race_rows, rows
from tests.verify.check import Check, Row
from tla.pause_trace import judge

__all__ = ("checks",)

SEED = 20_306
P = "pause"
_ACTIONS = set(Pause().actions)
S = TypeVar("S", bound=tuple[Any, ...])
_Offer = tuple[str, Callable[..., Row], tuple[object, ...]]


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return [Check(P, level, what, run, args) for what, run, args in offers[level](size)] if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


_UNGUARDED = "FIXED without any guard"


def _v2(size: str) -> list[_Offer]:
    found: list[_Offer] = [(f"FIXED: {name}", _graph_of, ("FIXED", name)) for name in FIXED]
    found.append(("SHIPPED: guarded", _graph_of, ("SHIPPED", "guarded")))
    found += published.offers(P, size)
    if size == "large":
        found += [(f"FIXED: {name}", _graph_of, ("FIXED", name)) for name in FIXED_LARGE]
        found += [(f"SHIPPED: {name}", _graph_of, ("SHIPPED", name)) for name in SHIPPED if name != "guarded"]
        found += [(f"FIXED without {name}", _graph_of, ("FAULTY", name)) for name in FAULTY]
        found.append((_UNGUARDED, _graph_of, ("", "")))
    return found


def _graph_of(kind: str, name: str) -> Row:
    if kind == "SHIPPED":
        shipped = SHIPPED[name]
        text = f"N={shipped.ranks} MaxTasks={shipped.tasks}"
        return rows.graph(P, f"SHIPPED: {name}", text, *compared_shipped(shipped))
    config = {**FIXED, **FIXED_LARGE}[name] if kind == "FIXED" else FAULTY[name] if kind == "FAULTY" else UNGUARDED
    what = f"FIXED: {name}" if kind == "FIXED" else f"FIXED without {name}" if kind == "FAULTY" else _UNGUARDED
    return rows.graph(P, what, bounds(config), *compared(config))


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[_Offer]:
    core = CORE if size == "small" else {**CORE, **CORE_LARGE}
    service = SERVICE if size == "small" else {**SERVICE, **SERVICE_LARGE}
    found: list[_Offer] = [(f"cores, every edge: {name}", _core, (name,)) for name in core]
    return found + [(rows.host_name(name), _service, (name,)) for name in service]


def _core(name: str) -> Row:
    config = {**CORE, **CORE_LARGE}[name]
    return rows.core_edges(P, f"cores, every edge: {name}", bounds(config), drive_core(config))


def _service(name: str) -> Row:
    config = {**SERVICE, **SERVICE_LARGE}[name]
    hidden = "are inside a critical section, or give up what returns"
    return rows.host_edges(P, rows.host_name(name), bounds(config), drive_service(config), hidden)


# -- V4 ------------------------------------------------------------------------------------------------------------

_CORE = "cores beside the model, random runs"
_HOST = "real host, ranks and clients beside the model, random runs"


def _v4(size: str) -> list[_Offer]:
    core, host = ((60, 50), (40, 20)) if size == "small" else ((2000, 100), (500, 50))
    return [(_CORE, _random, (_CORE, *core)), (_HOST, _random, (_HOST, *host))]


def _random(what: str, examples: int, steps: int) -> Row:
    run, wanted = (run_core, _ACTIONS) if what == _CORE else (run_host, _ACTIONS - {"Crash"})
    return rows.random_runs(P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[_Offer]:
    found: list[_Offer] = [(name, _schedules, (name,)) for name in PROGRAMS]
    executions = 30 if size == "small" else 1500
    found += [(f"{name}, random schedules", _random_schedules, (name, executions)) for name in LARGER]
    return found + [(race_rows.race_name(name), _race, (name,)) for name in ("B28", "late-sleeper")]


def _schedules(name: str) -> Row:
    return rows.schedules(P, name, *PROGRAMS[name])


def _random_schedules(name: str, executions: int) -> Row:
    return rows.random_schedules(P, name, LARGER[name], SEED, executions)


def _race(name: str) -> Row:
    what, broken = race_rows.race_name(name), race(name, shipped=True)
    shipped, ours = explored(name, shipped=True), explored(name, shipped=False)
    return race_rows.race_row(P, what, broken, shipped, ours, shows=RACES[name][2])


# -- V6 ------------------------------------------------------------------------------------------------------------

_RUNS = "runs of a real host with its ranks' jobs, random runs of the model, and altered ones: TLC and model"


def _v6(size: str) -> list[_Offer]:
    return [(_RUNS, _runs, (3 if size == "small" else 100,))]


def _runs(count: int) -> Row:
    real = real_run()
    good = [real, *(random_run(SEED + number, 2, 60) for number in range(count))]
    whole = next(run for seed in range(300) if is_whole(run := random_run(seed, 2, 150)))
    bad = {name: change(whole) for name, change in ALTERED.items()}
    absent = sorted(ACTIONS - {event["action"] for event in real})
    problems = [f"never occurred in the real run: {absent}"] if absent else []
    bounds = f"seed {SEED}, 2 ranks"
    return rows.judged(P, _RUNS, bounds, good, bad, judge, lambda run: accept(lines_of(run))[0], problems)
