"""The checks of layer-wise sending at the levels V2 to V6; V1 and V7 are listed by the manifest and by the register."""

from __future__ import annotations

from collections import Counter

from models.dispatch_trace import accept
from models.layerwise import Config, Layerwise
from tests.conformance.layerwise_core import drive_core
from tests.conformance.layerwise_plans import CORE, CORE_LARGE, bounds
from tests.refine import layerwise_graphs
from tests.refine.layerwise_graphs import compare_of
from tests.schedules.layerwise_programs import PROGRAMS, RACES, race
from tests.stateful.layerwise_machine import run_core, run_sender
from tests.traces.both_judges import objections
from tests.traces.layerwise_processes import real_run
from tests.traces.layerwise_runs import ACTIONS, ALTERED, lines_of, random_run, whole_run
from tests.verify import graph_rows, race_rows, rows
from tests.verify.check import Check, Row
from tla.layerwise_trace import judge

__all__ = ("checks",)

_SEED = 20_412
_CORE, _SENDER = "tables beside the model, random runs", "sender on simulated time, judged, random runs"
_JUDGED = "the tables in real processes' runs, random runs of the sender, and altered ones: TLC and model"
_SMALL_GRAPHS = {("FIXED", "1 slot, used twice"), ("PAIR", "packed word")}


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    kinds = ("FIXED", "PAIR", "OPENING", "SHIPPED", "FAULTY")
    return graph_rows.graph_checks("layerwise", layerwise_graphs, _graph, size, _SMALL_GRAPHS, kinds)


def _graph(kind: str, name: str) -> Row:
    wanted, difference = compare_of(kind, name)
    bounds = f"tests/refine/layerwise_graphs.py, {kind}"
    return rows.graph("layerwise", f"{kind}: {name}", bounds, wanted, difference)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    plans = list(CORE)[:2] if size == "small" else [*CORE, *CORE_LARGE]
    return [Check("layerwise", "V3", f"table, every edge: {plan}", _core_edges, (plan,)) for plan in plans]


def _core_edges(plan: str) -> Row:
    config: Config = {**CORE, **CORE_LARGE}[plan]
    return rows.core_edges("layerwise", f"table, every edge: {plan}", bounds(config), drive_core(config))


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    runs = (30, 40) if size == "small" else (2000, 80)
    return [
        Check("layerwise", "V4", _CORE, _runs, (_CORE, *runs)),
        Check("layerwise", "V4", _SENDER, _runs, (_SENDER, *runs)),
    ]


def _runs(what: str, examples: int, steps: int) -> Row:
    run = run_core if what == _CORE else run_sender
    return rows.random_runs("layerwise", what, run, Layerwise().actions, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    del size
    found = [Check("layerwise", "V5", name, _schedules, (name,)) for name in PROGRAMS]
    found += [Check("layerwise", "V5", race_rows.race_name(name), _race, (name,)) for name in RACES]
    return found


def _schedules(name: str) -> Row:
    return rows.schedules("layerwise", name, *PROGRAMS[name])


def _race(name: str) -> Row:
    _, wanted, bound = RACES[name]
    return race_rows.explored("layerwise", race_rows.race_name(name), race, name, bound, verdict=wanted)


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    steps, runs = (12, 8) if size == "small" else (120, 200)
    return [Check("layerwise", "V6", _JUDGED, _judged, (steps, runs))]


def _judged(steps: int, number: int) -> Row:
    """One start of TLC for all: a start costs more than the judging."""
    real = real_run(steps)
    wrong = real.problems()
    runs = real.events() + [random_run(_SEED + run, 200) for run in range(number)]
    whole = whole_run()
    altered = {name: change(whole) for name, change in ALTERED.items()}
    everything = [*runs, whole, *altered.values()]
    verdicts = [accept(lines_of(run))[0] for run in everything]
    wrong += objections(verdicts, judge(everything), altered)
    counts = sum((verdict.counts for verdict in verdicts[: len(runs) + 1]), Counter[str]())
    absent = sorted(name for name in ACTIONS if not counts[name])
    wrong += [f"never occurred: {absent}"] if absent else []
    judged = sum(counts.values())
    return Row(
        "layerwise",
        "V6",
        _JUDGED,
        ok=not wrong,
        edges=judged,
        bounds=f"2 ranks, {steps} steps, an info lost, a request aborted, the device killed; {number} random runs, "
        f"seed {_SEED}",
        detail="; ".join(wrong)[:500]
        or f"{judged} events of the tables accepted by both judges; {len(altered)} altered runs rejected by both at "
        "the same event; both ranks make the same calls, and take no layer that the device did not report",
    )
