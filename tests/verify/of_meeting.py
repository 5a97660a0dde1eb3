"""The checks of the meeting at the levels V2 to V6. V1 and V7 are in the manifest and the register."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from models.meeting_state import Config
from tests.conformance.meeting_plans import LARGE, RANDOM, SMALL, part_of
from tests.refine import meeting_graphs
from tests.schedules import group_programs, meeting_programs
from tests.schedules.meeting_races import BOUND, OUR_BOUNDS, RACES, race
from tests.stateful.memory_walks import run_random
from tests.traces.meeting_runs import ALTERED, KINDS, accept, real_run
from tests.verify import race_rows, rows, shared_memory_rows
from tests.verify.check import Check, Row
from tla.meeting_trace import judge

__all__ = ("checks",)

_P = "meeting"
_SEED = 30_711
_RUNS = "real processes, one is killed or given up, and altered runs: TLC and model"
# Programs and races of many schedules are left to the nightly verification.
_PROGRAMS = {**meeting_programs.PROGRAMS, **group_programs.PROGRAMS}
_LARGE_PROGRAMS = {**meeting_programs.LARGE_PROGRAMS, **group_programs.LARGE_PROGRAMS}
_QUICK = ("labels differ", "one is killed", "somebody aborts", *group_programs.PROGRAMS)
_QUICK_RACES = ("labels", "group-mixed", "group-apart", "group-count")
_QUICK_RANDOM = ("2 ranks, everything", "3 ranks", "2 ranks at 2 barriers, everything")
_QUICK_EDGES = (
    "another process comes",
    "somebody aborts, and undoes that",
    "a rank is in another round",
    "one of two barriers is aborted, and that is undone",
)


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers: dict[str, Callable[[bool], list[Check]]] = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size == "large") if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(large: bool) -> list[Check]:
    found = [
        Check(_P, "V2", name, _graph, (name, name))
        for name in (meeting_graphs.FIXED if large else meeting_graphs.SMALL)
    ]
    if large:
        found += [
            Check(_P, "V2", f"without {name}", _graph, (f"without {name}", name)) for name in meeting_graphs.FAULTY
        ]
    return found


def _graph(what: str, name: str) -> Row:
    config = {**meeting_graphs.FIXED, **meeting_graphs.FAULTY}[name]
    return rows.graph(_P, what, rows.numbers(config.constants()), *meeting_graphs.compared(config))


# -- V3 ------------------------------------------------------------------------------------------------------------


def _v3(large: bool) -> list[Check]:
    plans = (*SMALL, *LARGE) if large else _QUICK_EDGES
    return [Check(_P, "V3", f"every edge: {plan}", _edges, (plan,)) for plan in plans]


def _edges(plan: str) -> Row:
    return shared_memory_rows.every_edge(_P, plan, part_of(plan))


# -- V4 ------------------------------------------------------------------------------------------------------------


def _v4(large: bool) -> list[Check]:
    examples, length = (200, 600) if large else (20, 300)
    plans = tuple(RANDOM) if large else _QUICK_RANDOM
    return [Check(_P, "V4", f"random behaviours: {plan}", _random, (plan, examples, length)) for plan in plans]


def _random(plan: str, examples: int, length: int) -> Row:
    run = partial(run_random, part_of, plan, length=length)
    wanted = {"StoreTurn", "SeeStanding", "SeeDead"}
    if "everything" in plan:
        part = part_of(plan)
        wanted = set(part.model.actions) - _never(part.config)
    return rows.random_runs(_P, f"random behaviours: {plan}", run, wanted, examples, length, unit="steps")


def _never(config: Config) -> set[str]:
    """What cannot happen under a configuration."""
    never = {"SeeNext", "StoreCount"} if config.places == 1 else set()
    for name, may in (("AskFence", config.fences), ("AskPart", config.parts), ("Come", config.comes)):
        never |= set() if may else {name}
    return never


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(large: bool) -> list[Check]:
    programs = (*_PROGRAMS, *_LARGE_PROGRAMS) if large else _QUICK
    found = [Check(_P, "V5", name, _schedules, (name,)) for name in programs]
    races = tuple(RACES) if large else _QUICK_RACES
    return [*found, *(Check(_P, "V5", race_rows.race_name(name), _race, (name,)) for name in races)]


def _schedules(name: str) -> Row:
    return rows.schedules(_P, name, *{**_PROGRAMS, **_LARGE_PROGRAMS}[name])


def _race(name: str) -> Row:
    return race_rows.explored(_P, race_rows.race_name(name), race, name, BOUND, OUR_BOUNDS.get(name))


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(large: bool) -> list[Check]:
    return [Check(_P, "V6", _RUNS, _traces, (12 if large else 1,))]


def _traces(number: int) -> Row:
    runs = {(kind, count): real_run(_SEED + count, kind) for count in range(number) for kind in KINDS}
    bad = {
        f"{name}, run {count}": change(run)
        for (kind, count), run in runs.items()
        if kind == "killed"
        for name, change in ALTERED.items()
    }
    bounds = f"{number} runs of each kind, of 5 processes, seed {_SEED}"
    return rows.judged(_P, _RUNS, bounds, list(runs.values()), bad, judge, accept)
