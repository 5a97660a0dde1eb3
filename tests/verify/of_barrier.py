"""V2 to V6 of the barriers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import settings

from models.barrier import Barrier
from models.barrier_trace import accept
from tests.conformance.barrier_core import drive_core
from tests.conformance.barrier_plans import CORE_LARGE, CORE_SMALL, SERVICE, SERVICE_LARGE, bounds
from tests.conformance.barrier_service import drive_service
from tests.refine.barrier_graphs import FAULTY, FIXED, SHIPPED, UNGUARDED, compared, compared_shipped
from tests.schedules.barrier_programs import LARGER, PROGRAMS
from tests.schedules.barrier_races import RACES, race
from tests.stateful.barrier_host_machine import run_host
from tests.stateful.barrier_machine import run_core
from tests.stateful.barrier_meeting_machine import run_meeting
from tests.traces.barrier_runs import ALTERED, lines_of, random_run, real_runs
from tests.verify import race_rows, rows
from tests.verify.check import Check, Row
from tla.barrier_trace import judge

__all__ = ("checks",)

SEED = 20_302
P = "barrier"
S = TypeVar("S", bound=tuple[Any, ...])
_ACTIONS = set(Barrier().actions)


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level. V1 and V7 read the manifest and the register."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return [Check(P, level, what, run, args) for what, run, args in offers[level](size)] if level in offers else []


_Offer = tuple[str, Callable[..., Row], tuple[object, ...]]


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[_Offer]:
    found: list[_Offer] = [(f"FIXED: {name}", _fixed, (name,)) for name in FIXED]
    found += [(f"SHIPPED: {name}", _shipped, (name,)) for name in SHIPPED]
    if size == "large":
        found.append((_UNGUARDED, _fixed, ("",)))
        found += [(f"FIXED without {name}", _faulty, (name,)) for name in FAULTY]
    return found


_UNGUARDED = "FIXED without any guard but RoundsCount"


def _fixed(name: str) -> Row:
    config = FIXED[name] if name else UNGUARDED
    return rows.graph(P, f"FIXED: {name}" if name else _UNGUARDED, bounds(config), *compared(config))


def _faulty(name: str) -> Row:
    return rows.graph(P, f"FIXED without {name}", bounds(FAULTY[name]), *compared(FAULTY[name]))


def _shipped(name: str) -> Row:
    config = SHIPPED[name]
    text = f"N={config.ranks} Turns={config.turns} MaxTasks={config.max_tasks}"
    return rows.graph(P, f"SHIPPED: {name}", text, *compared_shipped(config))


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[_Offer]:
    core = CORE_SMALL if size == "small" else {**CORE_SMALL, **CORE_LARGE}
    service = SERVICE if size == "small" else {**SERVICE, **SERVICE_LARGE}
    found: list[_Offer] = [(f"core, every edge: {name}", _core, (name,)) for name in core]
    for number, name in enumerate(service):
        for lazy in (False, True) if size == "large" else (number == 0,):
            found.append((_service_name(name, lazy=lazy), _service, (name, lazy)))
    return found


def _core(name: str) -> Row:
    config = {**CORE_SMALL, **CORE_LARGE}[name]
    return rows.core_edges(P, f"core, every edge: {name}", bounds(config), drive_core(config))


def _service_name(name: str, *, lazy: bool) -> str:
    return f"host channel, every edge that a host can take{', waits wake late' if lazy else ''}: {name}"


def _service(name: str, lazy: bool) -> Row:
    config = {**SERVICE, **SERVICE_LARGE}[name]
    hidden = "start after a join without a wait"
    return rows.host_edges(P, _service_name(name, lazy=lazy), bounds(config), drive_service(config, lazy=lazy), hidden)


# -- V4 ------------------------------------------------------------------------------------------------------------

_CORE, _HOST = "core beside the model, random runs", "real host beside the model, random runs"
_ALONE = "at a barrier that is a group of its own"
_MEETINGS: dict[str, frozenset[int]] = {
    "real handles in shared memory, one through the host, beside the model, random runs": frozenset({0}),
    "real handles in shared memory beside the model, random runs": frozenset(),
    "real handles in shared memory, all through the host, beside the model, random runs": frozenset({0, 1}),
    f"real handles in shared memory, {_ALONE}, one through the host, beside the model, random runs": frozenset({0}),
}


def _v4(size: str) -> list[_Offer]:
    core, host = ((50, 40), (15, 25)) if size == "small" else ((3000, 100), (300, 50))
    found: list[_Offer] = [(_CORE, _random, (_CORE, *core)), (_HOST, _random, (_HOST, *host))]
    meetings = list(_MEETINGS)[:1] if size == "small" else list(_MEETINGS)
    return found + [(name, _random_meeting, (name, *host)) for name in meetings]


def _random_meeting(what: str, examples: int, steps: int) -> Row:
    def run(options: settings) -> Counter[str]:
        return run_meeting(options, _MEETINGS[what], alone=_ALONE in what)

    return rows.random_runs(P, what, run, _ACTIONS, examples, steps)


def _random(what: str, examples: int, steps: int) -> Row:
    run, wanted = (run_core, _ACTIONS) if what == _CORE else (run_host, _ACTIONS - {"Crash"})
    return rows.random_runs(P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[_Offer]:
    found: list[_Offer] = [(name, _schedules, (name,)) for name in PROGRAMS]
    executions = 100 if size == "small" else 3000
    found += [(f"{name}, random schedules", _random_schedules, (name, executions)) for name in LARGER]
    return found + [(_race_name(name), _schedule_race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    return rows.schedules(P, name, *PROGRAMS[name])


def _random_schedules(name: str, executions: int) -> Row:
    return rows.random_schedules(P, name, LARGER[name], SEED, executions)


def _race_name(name: str) -> str:
    return race_rows.race_name(name, "shipped barrier")


def _schedule_race(name: str) -> Row:
    return race_rows.explored(P, _race_name(name), race, name, verdict="error")


# -- V6 ------------------------------------------------------------------------------------------------------------

_RUNS = "runs of a real host, random runs of the model, and altered ones: TLC and model"


def _v6(size: str) -> list[_Offer]:
    return [(_RUNS, _runs, (4 if size == "small" else 100,))]


def _runs(count: int) -> Row:
    good = [*real_runs(), *(random_run(SEED + number, 2 + number % 2, 60) for number in range(count))]
    whole = next(
        run
        for run in (random_run(seed, 2, 80) for seed in range(1000))
        if {"Arrive", "Pass", "Fence", "Abort", "Reset", "Refuse", "Mismatch"} <= {event["action"] for event in run}
    )
    bad = {name: change(whole) for name, change in ALTERED.items()}
    bounds = f"seed {SEED}, 2 and 3 ranks"
    return rows.judged(P, _RUNS, bounds, good, bad, judge, lambda run: accept(lines_of(run))[0])
