"""V2 to V6 of what extends dispatch: bitmask (with the done queue), cache infos, connect tasks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

from fdcomm.testing import Bound, Exhaustive, Report, explore, replay
from models import done
from tests.conformance.extended import CORE, SERVICE, drive_done, drive_extended_core, drive_extended_service
from tests.faults.item_run import altered, judged, record
from tests.refine import bitmask_graphs, item_graphs
from tests.schedules.item_programs import PROGRAMS, RACES, race
from tests.stateful.item_machine import run_items
from tests.verify.check import Check, Row

__all__ = ("PROTOCOLS", "v2", "v3", "v4", "v5", "v6")

PROTOCOLS = ("bitmask", "cache_info", "connect")

_DONE = done.Config(takers=2, max_done=3, most=2)


# -- V2 ------------------------------------------------------------------------------------------------------------


def v2(protocol: str, size: str) -> list[Check]:
    """Model = spec, and bitmask = dispatch."""
    if protocol != "bitmask":
        found = [("FIXED", name) for name in item_graphs.FIXED[protocol]]
        found += [("SHIPPED", name) for name in item_graphs.SHIPPED[protocol]]
        return [Check(protocol, "V2", f"{kind}: {name}", _item_graph, (protocol, kind, name)) for kind, name in found]
    graphs: dict[str, Any] = {
        "FIXED": bitmask_graphs.FIXED if size == "small" else bitmask_graphs.FIXED | bitmask_graphs.MORE,
        "DONE": bitmask_graphs.DONE,
        "SHIPPED": bitmask_graphs.SHIPPED,
    }
    rows = [
        Check(protocol, "V2", f"{kind}: {name}", _bitmask_graph, (kind, name))
        for kind, configs in graphs.items()
        for name in configs
    ]
    names = list(bitmask_graphs.FIXED | bitmask_graphs.MORE)
    return rows + [
        Check(protocol, "V2", f"bitmask is dispatch, both ways: {name}", _equivalent, (name,)) for name in names
    ]


def _item_graph(protocol: str, kind: str, name: str) -> Row:
    wanted: Any
    difference: Any
    if kind == "FIXED":
        fixed = item_graphs.FIXED[protocol][name]
        wanted, difference = item_graphs.compared(protocol, fixed)
        bounds = _bounds(fixed.constants())
    else:
        shipped = item_graphs.SHIPPED[protocol][name]
        wanted, difference = item_graphs.compared_shipped(protocol, shipped)
        bounds = _bounds(shipped.constants())
    return _graph_row(protocol, f"{kind}: {name}", wanted, difference, bounds)


def _bitmask_graph(kind: str, name: str) -> Row:
    table: Any = {
        "FIXED": (bitmask_graphs.FIXED | bitmask_graphs.MORE, bitmask_graphs.compared),
        "DONE": (bitmask_graphs.DONE, bitmask_graphs.compared_done),
        "SHIPPED": (bitmask_graphs.SHIPPED, bitmask_graphs.compared_shipped),
    }
    configs, compared = table[kind]
    wanted, difference = compared(configs[name])
    return _graph_row("bitmask", f"{kind}: {name}", wanted, difference, _bounds(configs[name].constants()))


def _graph_row(protocol: str, what: str, wanted: Any, difference: Any, bounds: str) -> Row:
    detail = f"the model differs from TLC: {difference.text(1)}".replace("\n", "; ") if difference else "equal"
    states, edges = len(wanted.states), len(wanted.edges)
    return Row(protocol, "V2", what, ok=not difference, states=states, edges=edges, bounds=bounds, detail=detail)


def _equivalent(name: str) -> Row:
    config = (bitmask_graphs.FIXED | bitmask_graphs.MORE)[name]
    states, edges, wrong = bitmask_graphs.equivalent(config)
    return Row(
        "bitmask",
        "V2",
        f"bitmask is dispatch, both ways: {name}",
        ok=not wrong,
        states=states,
        edges=edges,
        bounds=_bounds(config.constants()),
        detail=wrong or "one graph, labels and parameters included, through mappings that are each other's inverse",
    )


def _bounds(constants: dict[str, Any]) -> str:
    shown = {name: value for name, value in constants.items() if not isinstance(value, bool)}
    return " ".join(
        f"{name}={{{','.join(map(str, sorted(value)))}}}" if isinstance(value, frozenset) else f"{name}={value}"
        for name, value in shown.items()
    )


# -- V3 ------------------------------------------------------------------------------------------------------------

_CORE_ROW = "core, every edge"
_SERVICE_ROW = "host service, every edge that a host can take"
_DONE_ROW = "done queue in the host service, every edge"


def v3(protocol: str, size: str) -> list[Check]:
    """Code = model."""
    del size
    found = [
        Check(protocol, "V3", _CORE_ROW, _core, (protocol,)),
        Check(protocol, "V3", _SERVICE_ROW, _service, (protocol,)),
    ]
    return found + ([Check(protocol, "V3", _DONE_ROW, _done)] if protocol == "bitmask" else [])


def _core(protocol: str) -> Row:
    driven = drive_extended_core(protocol)
    return Row(
        protocol,
        "V3",
        _CORE_ROW,
        ok=driven.edges > 0 and driven.refusals > 0,
        states=driven.states,
        edges=driven.edges,
        bounds=_bounds(CORE[protocol].constants()),
        detail=f"the graph of models/{protocol}.py; {driven.refusals} refusals changed nothing",
    )


def _service(protocol: str) -> Row:
    driven = drive_extended_service(protocol)
    return Row(
        protocol,
        "V3",
        _SERVICE_ROW,
        ok=driven.edges > 0 and driven.refusals > 0,
        states=driven.states,
        edges=driven.edges,
        bounds=_bounds(SERVICE[protocol].constants()),
        detail=f"{driven.walks} behaviours, {driven.refusals} refusals; {driven.of - driven.edges} of {driven.of} "
        "edges start inside a critical section",
    )


def _done() -> Row:
    driven = drive_done(_DONE)
    bounds = _bounds(_DONE.constants())
    return Row("bitmask", "V3", _DONE_ROW, ok=driven.edges > 0, states=driven.states, edges=driven.edges, bounds=bounds)


# -- V4 ------------------------------------------------------------------------------------------------------------

_RANDOM = "real host beside the model, random runs"
_ACTIONS = {"Join", "Leave", "Crash", "Connect", "Disconnect", "CrashProducer", "PutTasks", "PutLost", "PutTimeout"}
_OF_BITMASK = {"ClearRank", "ClearProducer", "Post", "Take", "Gone"}


def v4(protocol: str, size: str) -> list[Check]:
    """Long random runs."""
    bounds = (40, 40) if size == "small" else (400, 80)
    return [Check(protocol, "V4", _RANDOM, _random, (protocol, *bounds))]


def _random(protocol: str, examples: int, steps: int) -> Row:
    options = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    occurred = run_items(protocol, options)
    wanted = _ACTIONS | {"GetTasks"} | (_OF_BITMASK if protocol == "bitmask" else set())
    missing = sorted(name for name in wanted if not occurred[name])
    return Row(
        protocol,
        "V4",
        _RANDOM,
        ok=not missing,
        edges=sum(occurred.values()),
        bounds=f"{examples} runs of up to {steps} rules, derandomized",
        detail=f"never occurred: {', '.join(missing)}" if missing else f"all {len(wanted)} actions occurred",
    )


# -- V5 ------------------------------------------------------------------------------------------------------------


def v5(protocol: str, size: str) -> list[Check]:
    """Every schedule of small programs; the races on the shipped steps."""
    del size
    found = [Check(protocol, "V5", name, _schedules, (protocol, name)) for name in PROGRAMS[protocol]]
    if protocol == "bitmask":
        found += [Check(protocol, "V5", _race_name(name), _schedule_race, (name,)) for name in RACES]
    return found


def _race_name(name: str) -> str:
    return f"race {name}: found on the published steps, none on ours"


def _schedules(protocol: str, name: str) -> Row:
    program, bound = PROGRAMS[protocol][name]
    report = explore(program, Exhaustive(), bound)
    return _schedule_row(protocol, name, report, "" if report.complete and not report.failure else str(report))


def _schedule_race(name: str) -> Row:
    broken = race(name, shipped=True)
    shipped = explore(broken, Exhaustive(), Bound(preemptions=3))
    ours = explore(race(name, shipped=False), Exhaustive(), Bound())
    wrong = ""
    if shipped.failure is None or shipped.failure.verdict != "invariant":
        wrong = f"the published steps do not fail as they should: {shipped}"
    elif replay(broken, shipped.failure).message != shipped.failure.message:
        wrong = "the schedule does not fail again when it is replayed"
    elif not ours.complete or ours.failure is not None:
        wrong = str(ours)
    return _schedule_row("bitmask", _race_name(name), ours, wrong)


def _schedule_row(protocol: str, what: str, report: Report, wrong: str) -> Row:
    return Row(
        protocol,
        "V5",
        what,
        ok=not wrong,
        states=report.states,
        edges=report.steps,
        bounds=str(report.bound),
        detail=wrong.splitlines()[0] if wrong else f"complete in {report.executions} executions",
    )


# -- V6 ------------------------------------------------------------------------------------------------------------

_RUN = "a run of real processes with a kill and a restart, judged by TLC and by the model"


def v6(protocol: str, size: str) -> list[Check]:
    """Recorded runs."""
    del size
    return [Check(protocol, "V6", _RUN, _run, (protocol,))]


def _run(protocol: str) -> Row:
    with tempfile.TemporaryDirectory(prefix="fdcomm-run-") as folder:
        trace = Path(folder) / "run.ndjson"
        wrong = record(protocol, trace)
        files = [trace] if wrong else [trace, altered(protocol, trace)]
        (events, objections), *of_altered = judged(protocol, *files)
        wrong += objections
        if any(len(found) != 2 for _, found in of_altered):
            wrong.append("a judge accepts an altered run")
    return Row(
        protocol,
        "V6",
        _RUN,
        ok=not wrong,
        edges=events,
        bounds="2 ranks, real processes",
        detail="; ".join(wrong).replace("\n", " ") or f"{events} events accepted by both, an altered run by neither",
    )
