"""The checks of the link protocol at the levels V2 to V6; V1 and V7 are listed by the manifest and the register."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fdcomm.link.links import LINK_EVENTS
from models.dispatch_trace import accept
from models.link import Link
from tests.conformance.link_core import drive_core
from tests.conformance.link_plans import CORE, CORE_LARGE, bounds
from tests.refine import link_graphs
from tests.schedules.link_programs import PROGRAMS
from tests.stateful.link_machine import run_core, run_links
from tests.traces.link_runs import ALTERED, lines_of, random_runs, whole_runs
from tests.verify import rows
from tests.verify.check import Check, Row
from tla.link_trace import judge

__all__ = ("checks",)

_SEED = 31_337
_P = "link"
_CORE, _LINKS = "core beside the model, random runs", "a host's book of links over a lossy network, judged, random runs"
_JUDGED = "random runs over a lossy network, and altered ones: TLC and model"


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size) if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(size: str) -> list[Check]:
    chosen = [("FIXED", name) for name in link_graphs.FIXED]
    if size == "large":
        chosen += [("FAULTY", name) for name in link_graphs.FAULTY] + [("FAULTY", "without any guard")]
    return [Check(_P, "V2", f"{kind}: {name}", _graph, (kind, name)) for kind, name in chosen]


def _graph(kind: str, name: str) -> Row:
    config = {**link_graphs.FIXED, **link_graphs.FAULTY}.get(name, link_graphs.UNGUARDED)
    wanted, difference = link_graphs.compared(config)
    return rows.graph(_P, f"{kind}: {name}", rows.numbers(config.constants()), wanted, difference)


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(size: str) -> list[Check]:
    plans = [*CORE] if size == "small" else [*CORE, *CORE_LARGE]
    return [Check(_P, "V3", f"core, every edge: {plan}", _core_edges, (plan,)) for plan in plans]


def _core_edges(plan: str) -> Row:
    config = {**CORE, **CORE_LARGE}[plan]
    done = drive_core(config)
    row = rows.core_edges(_P, f"core, every edge: {plan}", bounds(config), done)
    return replace(row, ok=row.ok and done.edges == done.of)


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(size: str) -> list[Check]:
    core, links = ((40, 50), (20, 50)) if size == "small" else ((2000, 80), (600, 80))
    return [Check(_P, "V4", what, _runs, (what, *runs)) for what, runs in ((_CORE, core), (_LINKS, links))]


def _runs(what: str, examples: int, steps: int) -> Row:
    run, wanted = (run_core, set(Link().actions)) if what == _CORE else (run_links, set(LINK_EVENTS))
    return rows.random_runs(_P, what, run, wanted, examples, steps)


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(size: str) -> list[Check]:
    del size
    return [Check(_P, "V5", name, _schedules, (name,)) for name in PROGRAMS]


def _schedules(name: str) -> Row:
    return rows.schedules(_P, name, *PROGRAMS[name])


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(size: str) -> list[Check]:
    return [Check(_P, "V6", _JUDGED, _judged, (6, 150) if size == "small" else (60, 500))]


def _judged(count: int, acts: int) -> Row:
    whole = whole_runs()
    good = [*whole, *(run for number in range(count) for run in random_runs(_SEED + number, acts))]
    occurred = Counter(event["action"] for run in good for event in run)
    absent = sorted(name for name in LINK_EVENTS if not occurred[name])
    bad = {name: change(whole[1]) for name, change in ALTERED.items()}
    text = f"{count} networks, seed {_SEED}, {acts} acts each"
    problems = [f"never occurred: {absent}"] if absent else []
    return rows.judged(_P, _JUDGED, text, good, bad, judge, lambda run: accept(lines_of(run))[0], problems)
