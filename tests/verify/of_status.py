"""V2 to V6 of clearing and restoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

from fdcomm.testing import PCT, Bound, Exhaustive, RandomWalk, Report, explore, replay
from models.graph import Difference, Named
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
    return found + [(f"SHIPPED: {name}", _shipped, (name,)) for name in shipped]


def _fixed(name: str) -> Row:
    config = _configs()[name]
    return _graph(f"FIXED: {name}", bounds(config), *compared(config))


def _shipped(name: str) -> Row:
    config = {**SHIPPED, **SHIPPED_LARGE}[name]
    text = f"NW={config.workers} NS={config.movers} MaxAsked={config.max_asked}"
    return _graph(f"SHIPPED: {name}", text, *compared_shipped(config))


def _graph(what: str, text: str, wanted: Named[S], difference: Difference[S]) -> Row:
    return Row(
        P,
        "V2",
        what,
        ok=not difference,
        states=len(wanted.states),
        edges=len(wanted.edges),
        bounds=text,
        detail=f"the model differs from TLC: {difference.text(1)}".replace("\n", "; ") if difference else "equal",
    )


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[_Offer]:
    core = CORE_SMALL if size == "small" else {**CORE_SMALL, **CORE_LARGE}
    service = SERVICE if size == "small" else {**SERVICE, **SERVICE_LARGE}
    found: list[_Offer] = [(f"core, every edge: {name}", _core, (name,)) for name in core]
    return found + [(_service_name(name), _service, (name,)) for name in service]


def _core(name: str) -> Row:
    config = {**CORE_SMALL, **CORE_LARGE}[name]
    done = drive_core(config)
    return Row(
        P,
        "V3",
        f"core, every edge: {name}",
        ok=done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(config),
        detail=f"all edges, and {done.refusals} calls that must be refused, changed nothing",
    )


def _service_name(name: str) -> str:
    return f"host channel, every edge that a host can take: {name}"


def _service(name: str) -> Row:
    config = {**SERVICE, **SERVICE_LARGE}[name]
    done = drive_service(config)
    return Row(
        P,
        "V3",
        _service_name(name),
        ok=done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(config),
        detail=f"{done.walks} behaviours, {done.refusals} refusals; {done.of - done.edges} of {done.of} edges start "
        "inside one of its critical sections",
    )


# -- V4 ------------------------------------------------------------------------------------------------------------

_CORE, _HOST = "core beside the model, random runs", "real host beside the model, random runs"


def _v4(size: str) -> list[_Offer]:
    core, host = ((25, 20), (8, 12)) if size == "small" else ((1000, 60), (150, 40))
    return [(_CORE, _random, (_CORE, *core)), (_HOST, _random, (_HOST, *host))]


def _random(what: str, examples: int, steps: int) -> Row:
    options = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    occurred: Counter[str] = run_core(options) if what == _CORE else run_host(options)
    wanted = _ACTIONS if what == _CORE else _ACTIONS - {"Crash"}
    missing = sorted(name for name in wanted if not occurred[name])
    return Row(
        P,
        "V4",
        what,
        ok=not missing,
        edges=sum(occurred.values()),
        bounds=f"{examples} runs of up to {steps} rules, derandomized",
        detail=f"never occurred: {', '.join(missing)}" if missing else f"all {len(wanted)} actions occurred",
    )


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[_Offer]:
    found: list[_Offer] = [(name, _schedules, (name,)) for name in PROGRAMS]
    executions = 40 if size == "small" else 3000
    found += [(f"{name}, random schedules", _random_schedules, (name, executions)) for name in LARGER]
    return found + [(_race_name(name), _schedule_race, (name,)) for name in RACES]


def _schedules(name: str) -> Row:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    return _schedule_row(name, report, "" if report.complete and not report.failure else str(report))


def _random_schedules(name: str, executions: int) -> Row:
    bound = Bound(ticks=2, spurious=2)
    reports = [explore(LARGER[name], strategy(SEED, executions), bound) for strategy in (RandomWalk, PCT)]
    failed = next((report for report in reports if report.failure is not None), None)
    return Row(
        P,
        "V5",
        f"{name}, random schedules",
        ok=failed is None,
        edges=sum(report.steps for report in reports),
        bounds=f"{sum(report.executions for report in reports)} executions, seed {SEED}, {bound}",
        detail=str(failed).splitlines()[0] if failed else "not complete: uniform choices, and random priorities (PCT)",
    )


def _race_name(name: str) -> str:
    return f"race {name}: found on the shipped words, none on ours"


def _schedule_race(name: str) -> Row:
    broken = race(name, shipped=True)
    shipped, ours = explore(broken, Exhaustive()), explore(race(name, shipped=False), Exhaustive())
    wrong = ""
    if shipped.failure is None or shipped.failure.verdict != "invariant":
        wrong = f"the shipped words do not fail as it should: {shipped}"
    elif replay(broken, shipped.failure).message != shipped.failure.message:
        wrong = "the schedule does not fail again when it is replayed"
    elif not ours.complete or ours.failure is not None:
        wrong = str(ours)
    return _schedule_row(_race_name(name), ours, wrong)


def _schedule_row(what: str, report: Report, wrong: str) -> Row:
    return Row(
        P,
        "V5",
        what,
        ok=not wrong,
        states=report.states,
        edges=report.steps,
        bounds=str(report.bound),
        detail=wrong.splitlines()[0] if wrong else f"complete in {report.executions} executions",
    )


# -- V6 ------------------------------------------------------------------------------------------------------------

_RUNS = "runs of a real host, random runs of the model, and altered ones: TLC and model"


def _v6(size: str) -> list[_Offer]:
    return [(_RUNS, _runs, (3 if size == "small" else 100,))]


def _runs(count: int) -> Row:
    good = [*real_runs(), *(random_run(SEED + number, 60) for number in range(count))]
    whole = whole_run()
    bad = {name: change(whole) for name, change in ALTERED.items()}
    by_tlc = judge([*good, *bad.values()])
    by_model = [accept(lines_of(run))[0] for run in (*good, *bad.values())]
    problems = [str(verdict) for verdict in by_tlc[: len(good)] if not verdict.accepted]
    problems += [str(verdict) for verdict in by_model[: len(good)] if not verdict.accepted]
    for name, one, other in zip(bad, by_tlc[len(good) :], by_model[len(good) :], strict=True):
        if one.accepted or other.accepted or one.position != other.events:
            problems.append(f"{name}: {one}; {other}")
    events = sum(len(run) - 1 for run in good)
    return Row(
        P,
        "V6",
        _RUNS,
        ok=not problems,
        edges=events,
        bounds=f"seed {SEED}, 2 ranks, 3 components",
        detail="; ".join(problems)[:500].replace("\n", " ")
        or f"{len(good)} runs with {events} events accepted by both, {len(bad)} altered ones rejected by both at one "
        "event",
    )
