"""The checks of layer-wise sending at the levels V2 to V6; V1 and V7 are listed by the manifest and by the register."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import HealthCheck, settings

from fdcomm.testing import Exhaustive, Report, explore
from models.dispatch_trace import accept
from models.layerwise import Config, Layerwise
from tests.conformance.layerwise_core import drive_core
from tests.conformance.layerwise_plans import CORE, CORE_LARGE, bounds
from tests.refine import layerwise_graphs
from tests.refine.layerwise_graphs import compare_of
from tests.schedules.layerwise_programs import PROGRAMS, RACES, race
from tests.stateful.layerwise_machine import run_core, run_sender
from tests.traces.layerwise_processes import real_run
from tests.traces.layerwise_runs import ACTIONS, ALTERED, lines_of, random_run
from tests.verify.check import Check, Row

__all__ = ("checks",)

_SEED = 20_412
_CORE, _SENDER = "tables beside the model, random runs", "sender on simulated time, judged, random runs"
_REAL, _RANDOM, _ALTERED = "real processes' runs", "random runs of the sender", "altered runs are rejected"
_SMALL_GRAPHS = {("FIXED", "1 slot, used twice"), ("PAIR", "packed word")}


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    kinds = ("FIXED", "PAIR", "OPENING", "SHIPPED", "FAULTY")
    every = [(kind, name) for kind in kinds for name in getattr(layerwise_graphs, kind)]
    every.append(("FIXED", "without any guard"))
    chosen = [one for one in every if size == "large" or one in _SMALL_GRAPHS]
    return [Check("layerwise", "V2", f"{kind}: {name}", _graph, (kind, name)) for kind, name in chosen]


def _graph(kind: str, name: str) -> Row:
    wanted, difference = compare_of(kind, name)
    return Row(
        "layerwise",
        "V2",
        f"{kind}: {name}",
        ok=not difference,
        states=len(wanted.states),
        edges=len(wanted.edges),
        bounds=f"tests/refine/layerwise_graphs.py, {kind}",
        detail=f"the model differs from TLC: {difference.text(1)}".replace("\n", "; ") if difference else "equal",
    )


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    plans = list(CORE)[:2] if size == "small" else [*CORE, *CORE_LARGE]
    return [Check("layerwise", "V3", f"table, every edge: {plan}", _core_edges, (plan,)) for plan in plans]


def _core_edges(plan: str) -> Row:
    config: Config = {**CORE, **CORE_LARGE}[plan]
    done = drive_core(config)
    return Row(
        "layerwise",
        "V3",
        f"table, every edge: {plan}",
        ok=done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(config),
        detail=f"all edges, and {done.refusals} calls that must be refused, changed nothing",
    )


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    runs = (30, 40) if size == "small" else (2000, 80)
    return [
        Check("layerwise", "V4", _CORE, _runs, (_CORE, *runs)),
        Check("layerwise", "V4", _SENDER, _runs, (_SENDER, *runs)),
    ]


def _runs(what: str, examples: int, steps: int) -> Row:
    options = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    occurred: Counter[str] = run_core(options) if what == _CORE else run_sender(options)
    missing = sorted(name for name in Layerwise().actions if not occurred[name])
    return Row(
        "layerwise",
        "V4",
        what,
        ok=not missing,
        edges=sum(occurred.values()),
        bounds=f"{examples} runs of up to {steps} rules, derandomized",
        detail=f"never occurred: {', '.join(missing)}" if missing else f"all {len(ACTIONS)} actions occurred",
    )


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    del size
    found = [Check("layerwise", "V5", name, _schedules, (name,)) for name in PROGRAMS]
    found += [Check("layerwise", "V5", _race_name(name), _race, (name,)) for name in RACES]
    return found


def _race_name(name: str) -> str:
    return f"race {name}: found on the published steps, none on ours"


def _schedules(name: str) -> Row:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    return Row(
        "layerwise",
        "V5",
        name,
        ok=report.complete and report.failure is None,
        states=report.states,
        edges=report.steps,
        bounds=str(bound),
        detail=_told(report),
    )


def _race(name: str) -> Row:
    _, wanted, bound = RACES[name]
    shipped = explore(race(name, shipped=True), Exhaustive(), bound)
    ours = explore(race(name, shipped=False), Exhaustive(), bound)
    verdict = shipped.failure.verdict if shipped.failure is not None else "no failure"
    return Row(
        "layerwise",
        "V5",
        _race_name(name),
        ok=verdict == wanted and ours.complete and ours.failure is None,
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
    steps, runs = (12, 10) if size == "small" else (120, 500)
    return [
        Check("layerwise", "V6", _REAL, _real, (steps,)),
        Check("layerwise", "V6", _RANDOM, _random, (runs,)),
        Check("layerwise", "V6", _ALTERED, _rejected),
    ]


def _real(steps: int) -> Row:
    run = real_run(steps)
    verdicts = [verdict for trace in run.traces for verdict in accept(trace.splitlines())]
    wrong = [str(verdict) for verdict in verdicts if not verdict.accepted]
    if run.calls[0] != run.calls[1]:
        wrong.append(f"the ranks made different collective calls: {run.calls}")
    if run.left:
        wrong.append(f"left behind: {run.left}")
    return Row(
        "layerwise",
        "V6",
        _REAL,
        ok=not wrong,
        edges=sum(verdict.events for verdict in verdicts),
        bounds=f"2 ranks, {steps} steps; an info is lost, a request aborted, the device's process killed",
        detail=wrong[0] if wrong else "accepted by the model; the same collective calls on both ranks",
    )


def _random(runs: int) -> Row:
    counts: Counter[str] = Counter()
    wrong = []
    for number in range(runs):
        (verdict,) = accept(lines_of(random_run(_SEED + number, 200)))
        counts += verdict.counts
        if not verdict.accepted:
            wrong.append(f"seed {_SEED + number}: {verdict}")
    absent = sorted(name for name in ACTIONS if not counts[name])
    return Row(
        "layerwise",
        "V6",
        _RANDOM,
        ok=not wrong and not absent,
        edges=sum(counts.values()),
        bounds=f"{runs} runs, seed {_SEED}",
        detail=wrong[0] if wrong else f"never occurred: {absent}" if absent else "accepted by the model",
    )


def _rejected() -> Row:
    runs = (random_run(seed, 200) for seed in range(200))
    run = next(run for run in runs if {event["action"] for event in run} >= ACTIONS)
    accepted = [name for name, change in ALTERED.items() if accept(lines_of(change(run)))[0].accepted]
    return Row(
        "layerwise",
        "V6",
        _ALTERED,
        ok=not accepted,
        edges=len(ALTERED),
        bounds=f"one change each of a run of {len(json.dumps(run))} bytes",
        detail=f"accepted: {', '.join(accepted)}" if accepted else "by the model",
    )
