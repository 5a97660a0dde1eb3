"""The checks of rearrange at the levels V2 to V6; V1 and V7 are listed by the manifest and by the register."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, settings

from fdcomm.testing import Bound, Exhaustive, Report, explore
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


def _row(level: str, what: str, ok: bool, **more: Any) -> Row:
    return Row("rearrange", level, what, ok=ok, **more)


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
    wanted: Any
    difference: Any
    if kind == "SHIPPED":
        shape: Any = rearrange_graphs.SHIPPED[name]
        wanted, difference = rearrange_graphs.compared_shipped(shape)
    else:
        known = rearrange_graphs.FIXED | rearrange_graphs.FAULTY | {"without any guard": rearrange_graphs.UNGUARDED}
        shape = known[name]
        wanted, difference = rearrange_graphs.compared(shape)
    return _row(
        "V2",
        _graph_name(kind, name),
        not difference,
        states=len(wanted.states),
        edges=len(wanted.edges),
        bounds=" ".join(f"{key}={value}" for key, value in shape.constants().items() if type(value) is int),
        detail=f"the model differs from TLC: {difference.text(1)}".replace("\n", "; ") if difference else "equal",
    )


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
    done = drive_core(config)
    return _row(
        "V3",
        f"core, every edge: {plan}",
        done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(config),
        detail=f"all edges, and {done.refusals} calls that must be refused, changed nothing",
    )


def _service(plan: str) -> Row:
    done = drive_service(SERVICE[plan])
    return _row(
        "V3",
        f"host service, every edge that a host can take: {plan}",
        done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(SERVICE[plan]),
        detail=f"{done.walks} behaviours, {done.refusals} refusals; in {done.of - done.edges} of {done.of} edges "
        "nobody is there who could free what is done",
    )


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    small = size == "small"
    return [
        Check("rearrange", "V4", _CORE, _core_runs, (40 if small else 2000, 30 if small else 80)),
        Check("rearrange", "V4", _HOST, _host_runs, (10 if small else 250, 20 if small else 50)),
    ]


def _options(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


def _core_runs(examples: int, steps: int) -> Row:
    return _runs(_CORE, run_core(_options(examples, steps)), set(Rearrange().actions), examples, steps)


def _host_runs(examples: int, steps: int) -> Row:
    return _runs(_HOST, run_host(_options(examples, steps)), ACTIONS - _TIMED, examples, steps)


def _runs(what: str, occurred: Counter[str], wanted: set[str], examples: int, steps: int) -> Row:
    missing = sorted(name for name in wanted if not occurred[name])
    return _row(
        "V4",
        what,
        not missing,
        edges=sum(occurred.values()),
        bounds=f"{examples} runs of up to {steps} rules, derandomized",
        detail=f"never occurred: {', '.join(missing)}" if missing else f"all {len(wanted)} actions occurred",
    )


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    del size
    found = [Check("rearrange", "V5", name, _schedules, (name,)) for name in PROGRAMS]
    return found + [
        Check("rearrange", "V5", f"race {name}: found on the published steps, none on ours", _race, (name,))
        for name in RACES
    ]


def _schedules(name: str) -> Row:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    ok = report.complete and report.failure is None
    return _row("V5", name, ok, states=report.states, edges=report.steps, bounds=str(bound), detail=_told(report))


def _race(name: str) -> Row:
    bound = Bound(preemptions=2, max_steps=300)
    shipped = explore(race(name, shipped=True), Exhaustive(), bound)
    ours = explore(race(name, shipped=False), Exhaustive(), bound)
    verdict = shipped.failure.verdict if shipped.failure is not None else "no failure"
    return _row(
        "V5",
        f"race {name}: found on the published steps, none on ours",
        verdict == RACES[name][1] and ours.complete and ours.failure is None,
        states=ours.states,
        edges=ours.steps,
        bounds=str(bound),
        detail=f"published: {verdict} in {shipped.executions} executions; ours: {_told(ours)}",
    )


def _told(report: Report) -> str:
    if report.failure is not None:
        return f"{report.failure.verdict}: {report.failure.message}; schedule {list(report.failure.choices)}"
    return f"{'complete' if report.complete else 'NOT complete'} in {report.executions} executions"


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    ranks, runs = ((2,), 6) if size == "small" else ((1, 2, 3), 200)
    return [Check("rearrange", "V6", _JUDGED, _judged, (ranks, runs))]


def _judged(ranks: tuple[int, ...], number: int) -> Row:
    """One start of TLC for all runs of so many ranks: a start costs more than the judging."""
    real = real_run()
    drawn = [random_run(_SEED + run, ranks[run % len(ranks)], 150) for run in range(number)]
    altered = {name: change(real) for name, change in ALTERED.items()}
    verdicts = judge([real, *drawn, *altered.values()])
    wrong = [str(verdict) for verdict in verdicts[: 1 + number] if not verdict.accepted]
    wrong += [str(found) for run in (real, *drawn) for found in accept(lines_of(run)) if not found.accepted]
    for of_whom, some in (("a real host's run", [real]), ("random runs", drawn)):
        absent = sorted(ACTIONS - {event["action"] for run in some for event in run})
        wrong += [f"never occurred in {of_whom}: {absent}"] if absent else []
    for (name, events), verdict in zip(altered.items(), verdicts[1 + number :], strict=True):
        (model,) = accept(lines_of(events))
        if verdict.accepted or model.accepted or verdict.position != model.events:
            wrong.append(f"accepted, or rejected elsewhere: {name}")
    judged = sum(len(run) - 1 for run in (real, *drawn))
    return _row(
        "V6",
        _JUDGED,
        not wrong,
        edges=judged,
        bounds=f"{1 + number} runs of {', '.join(map(str, ranks))} ranks, seed {_SEED}",
        detail="; ".join(wrong)[:500]
        or f"{judged} events accepted by both judges; {len(altered)} altered runs rejected by both at the same event",
    )
