"""V2 to V6 of pauses; V1 and V7 read the manifest and the register."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

from fdcomm.testing import PCT, Bound, Exhaustive, RandomWalk, Report, explore, replay
from models.dispatch_trace import accept
from models.graph import Difference, Named
from models.pause import Pause
from tests.conformance.pause_core import drive_core
from tests.conformance.pause_plans import CORE, CORE_LARGE, SERVICE, SERVICE_LARGE, bounds
from tests.conformance.pause_service import drive_service
from tests.refine.pause_graphs import FAULTY, FIXED, FIXED_LARGE, SHIPPED, UNGUARDED, compared, compared_shipped
from tests.schedules.pause_programs import LARGER, PROGRAMS
from tests.schedules.pause_races import RACES, explored, race
from tests.stateful.pause_machine import run_core
from tests.traces.pause_altered import ALTERED, is_whole
from tests.traces.pause_runs import ACTIONS, lines_of, random_run, real_run
from tests.verify.check import Check, Row
from tla.pause_trace import judge

__all__ = ("checks",)

SEED = 20_306
P = "pause"
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
        return _graph(f"SHIPPED: {name}", text, *compared_shipped(shipped))
    config = {**FIXED, **FIXED_LARGE}[name] if kind == "FIXED" else FAULTY[name] if kind == "FAULTY" else UNGUARDED
    what = f"FIXED: {name}" if kind == "FIXED" else f"FIXED without {name}" if kind == "FAULTY" else _UNGUARDED
    return _graph(what, bounds(config), *compared(config))


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
    core = CORE if size == "small" else {**CORE, **CORE_LARGE}
    service = SERVICE if size == "small" else {**SERVICE, **SERVICE_LARGE}
    found: list[_Offer] = [(f"cores, every edge: {name}", _core, (name,)) for name in core]
    return found + [(_service_name(name), _service, (name,)) for name in service]


def _core(name: str) -> Row:
    config = {**CORE, **CORE_LARGE}[name]
    done = drive_core(config)
    return Row(
        P,
        "V3",
        f"cores, every edge: {name}",
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
        detail=f"{done.walks} behaviours, {done.refusals} refusals; {done.of - done.edges} of {done.of} edges are "
        "inside a critical section, or give up what returns",
    )


# -- V4 ------------------------------------------------------------------------------------------------------------

_CORE = "cores beside the model, random runs"


def _v4(size: str) -> list[_Offer]:
    return [(_CORE, _random, (60, 50) if size == "small" else (2000, 100))]


def _random(examples: int, steps: int) -> Row:
    options = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    occurred: Counter[str] = run_core(options)
    wanted = set(Pause().actions)
    missing = sorted(name for name in wanted if not occurred[name])
    return Row(
        P,
        "V4",
        _CORE,
        ok=not missing,
        edges=sum(occurred.values()),
        bounds=f"{examples} runs of up to {steps} rules, derandomized",
        detail=f"never occurred: {', '.join(missing)}" if missing else f"all {len(wanted)} actions occurred",
    )


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[_Offer]:
    found: list[_Offer] = [(name, _schedules, (name,)) for name in PROGRAMS]
    executions = 30 if size == "small" else 1500
    found += [(f"{name}, random schedules", _random_schedules, (name, executions)) for name in LARGER]
    return found + [(_race_name(name), _race, (name,)) for name in ("B28", "late-sleeper")]


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
    return f"race {name}: found on the published steps, none on ours"


def _race(name: str) -> Row:
    shipped, ours = explored(name, shipped=True), explored(name, shipped=False)
    wrong = ""
    told = f"{shipped.failure.verdict} {shipped.failure.message}" if shipped.failure is not None else str(shipped)
    if shipped.failure is None or RACES[name][2] not in told:
        wrong = f"the published steps do not fail as they should: {told}"
    elif replay(race(name, shipped=True), shipped.failure).verdict != shipped.failure.verdict:
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

_RUNS = "runs of a real host with its ranks' jobs, random runs of the model, and altered ones: TLC and model"


def _v6(size: str) -> list[_Offer]:
    return [(_RUNS, _runs, (3 if size == "small" else 100,))]


def _runs(count: int) -> Row:
    real = real_run()
    good = [real, *(random_run(SEED + number, 2, 60) for number in range(count))]
    whole = next(run for seed in range(300) if is_whole(run := random_run(seed, 2, 150)))
    bad = {name: change(whole) for name, change in ALTERED.items()}
    by_tlc = judge([*good, *bad.values()])
    by_model = [accept(lines_of(run))[0] for run in (*good, *bad.values())]
    problems = [str(verdict) for verdict in by_tlc[: len(good)] if not verdict.accepted]
    problems += [str(verdict) for verdict in by_model[: len(good)] if not verdict.accepted]
    absent = sorted(ACTIONS - {event["action"] for event in real})
    problems += [f"never occurred in the real run: {absent}"] if absent else []
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
        bounds=f"seed {SEED}, 2 ranks",
        detail="; ".join(problems)[:500].replace("\n", " ")
        or f"{len(good)} runs with {events} events accepted by both, {len(bad)} altered ones rejected by both at one "
        "event",
    )
