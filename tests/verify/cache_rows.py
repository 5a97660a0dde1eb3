"""V2 to V6 of what extends dispatch: bitmask (with the done queue), cache infos, connect tasks."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from fdcomm.testing import Bound
from models import done
from tests.conformance.extended import CORE, SERVICE, drive_done, drive_extended_core, drive_extended_service
from tests.faults.item_run import altered, judged, record
from tests.refine import bitmask_graphs, item_graphs
from tests.schedules.item_programs import PROGRAMS, RACES, race
from tests.stateful.item_machine import run_items
from tests.verify import race_rows, rows
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
    small = size == "small"
    graphs: dict[str, Any] = {
        "FIXED": bitmask_graphs.FIXED if small else bitmask_graphs.FIXED | bitmask_graphs.MORE,
        "DONE": list(bitmask_graphs.DONE)[:1] if small else bitmask_graphs.DONE,
        "SHIPPED": list(bitmask_graphs.SHIPPED)[:1] if small else bitmask_graphs.SHIPPED,
    }
    checks = [
        Check(protocol, "V2", f"{kind}: {name}", _bitmask_graph, (kind, name))
        for kind, configs in graphs.items()
        for name in configs
    ]
    names = list(graphs["FIXED"]) if small else list(bitmask_graphs.FIXED | bitmask_graphs.MORE)
    return checks + [
        Check(protocol, "V2", f"bitmask is dispatch, both ways: {name}", _equivalent, (name,)) for name in names
    ]


def _item_graph(protocol: str, kind: str, name: str) -> Row:
    wanted: Any
    difference: Any
    if kind == "FIXED":
        fixed = item_graphs.FIXED[protocol][name]
        wanted, difference = item_graphs.compared(protocol, fixed)
        bounds = rows.shown(fixed.constants())
    else:
        shipped = item_graphs.SHIPPED[protocol][name]
        wanted, difference = item_graphs.compared_shipped(protocol, shipped)
        bounds = rows.shown(shipped.constants())
    return rows.graph(protocol, f"{kind}: {name}", bounds, wanted, difference)


def _bitmask_graph(kind: str, name: str) -> Row:
    table: Any = {
        "FIXED": (bitmask_graphs.FIXED | bitmask_graphs.MORE, bitmask_graphs.compared),
        "DONE": (bitmask_graphs.DONE, bitmask_graphs.compared_done),
        "SHIPPED": (bitmask_graphs.SHIPPED, bitmask_graphs.compared_shipped),
    }
    configs, compared = table[kind]
    wanted, difference = compared(configs[name])
    return rows.graph("bitmask", f"{kind}: {name}", rows.shown(configs[name].constants()), wanted, difference)


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
        bounds=rows.shown(config.constants()),
        detail=wrong or "one graph, labels and parameters included, through mappings that are each other's inverse",
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
    detail = f"the graph of models/{protocol}.py; {driven.refusals} refusals changed nothing"
    return rows.core_edges(protocol, _CORE_ROW, rows.shown(CORE[protocol].constants()), driven, detail)


def _service(protocol: str) -> Row:
    bounds, driven = rows.shown(SERVICE[protocol].constants()), drive_extended_service(protocol)
    return rows.host_edges(protocol, _SERVICE_ROW, bounds, driven, "start inside a critical section")


def _done() -> Row:
    driven = drive_done(_DONE)
    bounds = rows.shown(_DONE.constants())
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
    wanted = _ACTIONS | {"GetTasks"} | (_OF_BITMASK if protocol == "bitmask" else set())
    run = partial(run_items, protocol)
    return rows.random_runs(protocol, _RANDOM, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def v5(protocol: str, size: str) -> list[Check]:
    """Every schedule of small programs; the races on the shipped steps."""
    del size
    found = [Check(protocol, "V5", name, _schedules, (protocol, name)) for name in PROGRAMS[protocol]]
    if protocol == "bitmask":
        found += [Check(protocol, "V5", race_rows.race_name(name), _schedule_race, (name,)) for name in RACES]
    return found


def _schedules(protocol: str, name: str) -> Row:
    return rows.schedules(protocol, name, *PROGRAMS[protocol][name])


def _schedule_race(name: str) -> Row:
    what, bound = race_rows.race_name(name), Bound(preemptions=3)
    return race_rows.explored("bitmask", what, race, name, bound, our_bound=Bound(), verdict="invariant")


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
