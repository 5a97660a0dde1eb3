"""The checks of the gate at the levels V2 to V6; V1 and V7 are listed by the manifest and by the register."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, settings

from fdcomm.testing import Bound, Exhaustive, Report, explore
from models.dispatch_trace import accept
from models.gate import Config, Gate
from tests.conformance.gate_core import drive_core
from tests.conformance.gate_plans import CORE, CORE_LARGE, SERVICE, bounds
from tests.conformance.gate_service import drive_service
from tests.refine import gate_graphs
from tests.schedules.gate_programs import PROGRAMS, RACES, race
from tests.stateful.gate_machine import run_core, run_host
from tests.traces.gate_runs import ACTIONS, ALTERED, is_whole, lines_of, random_run, real_runs
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
    found.append(Check("gate", "V2", "FIXED without any guard", _graph, ("FIXED", "without any guard")))
    shipped = list(gate_graphs.SHIPPED)[:1] if size == "small" else list(gate_graphs.SHIPPED)
    found += [Check("gate", "V2", f"SHIPPED: {name}", _graph, ("SHIPPED", name)) for name in shipped]
    if size == "large":
        found.append(Check("gate", "V2", "Answers", _graph, ("ABSTRACT", "Answers")))
        found += [Check("gate", "V2", f"FIXED without {name}", _graph, ("FAULTY", name)) for name in gate_graphs.FAULTY]
    return found


def _graph(kind: str, name: str) -> Row:
    wanted: Any
    difference: Any
    what = {"ABSTRACT": name, "FAULTY": f"FIXED without {name}", "SHIPPED": f"SHIPPED: {name}"}.get(
        kind, f"FIXED {name}" if name.startswith("without") else f"FIXED: {name}"
    )
    if kind == "ABSTRACT":
        shape: Any = gate_graphs.ABSTRACT
        wanted, difference = gate_graphs.compared_abstract(shape)
    elif kind == "SHIPPED":
        shape = gate_graphs.SHIPPED[name]
        wanted, difference = gate_graphs.compared_shipped(shape)
    else:
        everything = {**gate_graphs.FIXED, **gate_graphs.FAULTY, "without any guard": gate_graphs.UNGUARDED}
        shape = everything[name]
        wanted, difference = gate_graphs.compared(shape)
    return Row(
        "gate",
        "V2",
        what,
        ok=not difference,
        states=len(wanted.states),
        edges=len(wanted.edges),
        bounds=_bounds(shape.constants()),
        detail=f"the model differs from TLC: {difference.text(1)}".replace("\n", "; ") if difference else "equal",
    )


def _bounds(constants: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in constants.items() if type(value) is int)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    core = list(CORE) if size == "small" else [*CORE, *CORE_LARGE]
    found = [Check("gate", "V3", f"core, every edge: {plan}", _core_edges, (plan,)) for plan in core]
    for plan in SERVICE:
        found.append(Check("gate", "V3", f"host service, every edge that a host can take: {plan}", _service, (plan,)))
    return found


def _core_edges(plan: str) -> Row:
    config: Config = {**CORE, **CORE_LARGE}[plan]
    done = drive_core(config)
    return Row(
        "gate",
        "V3",
        f"core, every edge: {plan}",
        ok=done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(config),
        detail=f"all edges, and {done.refusals} calls that must be refused, changed nothing",
    )


def _service(plan: str) -> Row:
    done = drive_service(SERVICE[plan])
    return Row(
        "gate",
        "V3",
        f"host service, every edge that a host can take: {plan}",
        ok=done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(SERVICE[plan]),
        detail=f"{done.walks} behaviours, {done.refusals} refusals; {done.of - done.edges} of {done.of} edges are "
        "inside a critical section, where a rank is claimed by its answer",
    )


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    small = size == "small"
    return [
        Check("gate", "V4", _CORE, _core_runs, (100 if small else 3000, 40 if small else 100)),
        Check("gate", "V4", _HOST, _host_runs, (40 if small else 300, 30 if small else 60)),
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
    return _runs(_CORE, run_core(_options(examples, steps)), set(Gate().actions), examples, steps)


def _host_runs(examples: int, steps: int) -> Row:
    return _runs(_HOST, run_host(_options(examples, steps)), ACTIONS, examples, steps)


def _runs(what: str, occurred: Counter[str], wanted: set[str], examples: int, steps: int) -> Row:
    missing = sorted(name for name in wanted if not occurred[name])
    return Row(
        "gate",
        "V4",
        what,
        ok=not missing,
        edges=sum(occurred.values()),
        bounds=f"{examples} runs of up to {steps} rules, derandomized",
        detail=f"never occurred: {', '.join(missing)}" if missing else f"all {len(wanted)} actions occurred",
    )


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    del size
    found = [Check("gate", "V5", name, _schedules, (name,)) for name in PROGRAMS]
    found += [
        Check("gate", "V5", f"race {name}: found on the published steps, none on ours", _race, (name,))
        for name in RACES
    ]
    return found


def _schedules(name: str) -> Row:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    ok = report.complete and report.failure is None
    return Row(
        "gate", "V5", name, ok=ok, states=report.states, edges=report.steps, bounds=str(bound), detail=_told(report)
    )


def _race(name: str) -> Row:
    bound = Bound(preemptions=2, max_steps=300)
    shipped = explore(race(name, shipped=True), Exhaustive(), bound)
    ours = explore(race(name, shipped=False), Exhaustive(), bound)
    verdict = shipped.failure.verdict if shipped.failure is not None else "no failure"
    return Row(
        "gate",
        "V5",
        f"race {name}: found on the published steps, none on ours",
        ok=verdict == RACES[name][1] and ours.complete and ours.failure is None,
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
    rounds, runs = (5, 6) if size == "small" else (200, 100)
    return [Check("gate", "V6", _JUDGED, _judged, (rounds, runs))]


def _judged(rounds: int, number: int) -> Row:
    """One run of TLC for all: a start costs more than the judging."""
    real = real_runs(rounds)
    runs = real + [random_run(_SEED + run, 2 + run % 2, 60) for run in range(number)]
    whole = next(run for seed in range(7, 207) if is_whole(run := random_run(seed, 2, 80)))
    altered = {name: change(whole) for name, change in ALTERED.items()}
    verdicts = judge([*runs, *altered.values()])
    wrong = [str(verdict) for verdict in verdicts[: len(runs)] if not verdict.accepted]
    wrong += [str(verdict) for run in runs for verdict in accept(lines_of(run)) if not verdict.accepted]
    for of_whom, some in (("a real host's runs", real), ("random runs", runs[len(real) :])):
        absent = sorted(ACTIONS - {event["action"] for run in some for event in run})
        wrong += [f"never occurred in {of_whom}: {absent}"] if absent else []
    for (name, events), verdict in zip(altered.items(), verdicts[len(runs) :], strict=True):
        (model,) = accept(lines_of(events))
        if verdict.accepted or model.accepted or verdict.position != model.events:
            wrong.append(f"accepted, or rejected elsewhere: {name}")
    judged = sum(map(len, runs))
    return Row(
        "gate",
        "V6",
        _JUDGED,
        ok=not wrong,
        edges=judged,
        bounds=f"{len(runs)} runs, seed {_SEED}",
        detail="; ".join(wrong)[:500]
        or f"{judged} events accepted by TLC and the model, {len(altered)} altered runs rejected by both at one event",
    )
