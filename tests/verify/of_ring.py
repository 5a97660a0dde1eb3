"""The checks of the ring at the levels V2 to V6. V1 and V7 are in the manifest and the register."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tests.conformance.ring_calls import Driven
from tests.conformance.ring_overflow_drive import PLANS as SEGMENTS
from tests.conformance.ring_overflow_drive import drive as segments
from tests.conformance.ring_place_drive import PLANS as TURNS
from tests.conformance.ring_place_drive import drive as turns
from tests.conformance.ring_plans import LARGE, RANDOM, SMALL, part_of
from tests.refine import ring_graphs
from tests.schedules import (
    ring_bias_programs,
    ring_clear_programs,
    ring_last_programs,
    ring_programs,
    ring_segment_programs,
)
from tests.schedules.ring_races import BOUND, OUR_BOUNDS, RACES, race
from tests.stateful.memory_walks import run_random
from tests.traces.ring_runs import ALTERED, both, real_run
from tests.verify import race_rows, rows, shared_memory_rows
from tests.verify.check import Check, Row

__all__ = ("checks",)

_P = "ring"
PROGRAMS = {
    **ring_programs.PROGRAMS,
    **ring_bias_programs.PROGRAMS,
    **ring_clear_programs.PROGRAMS,
    **ring_last_programs.PROGRAMS,
    **ring_segment_programs.PROGRAMS,
}
LARGE_PROGRAMS = {
    **ring_programs.LARGE_PROGRAMS,
    **ring_bias_programs.LARGE_PROGRAMS,
    **ring_clear_programs.LARGE_PROGRAMS,
    **ring_last_programs.LARGE_PROGRAMS,
    **ring_segment_programs.LARGE_PROGRAMS,
}
RANDOM_PROGRAMS = {
    **ring_programs.RANDOM_PROGRAMS,
    **ring_bias_programs.RANDOM_PROGRAMS,
    **ring_clear_programs.RANDOM_PROGRAMS,
    **ring_last_programs.RANDOM_PROGRAMS,
}
_SEED = 20_611
# Programs and races of many schedules are left to the nightly verification.
_QUICK = (
    "2 puts, 1 slot",
    "the ring is full",
    "nobody is counted any more",
    "a clear is killed",
    "a put waits, and a clear makes room",
    "the last of 2 readers",
    "a bias is ended",
    *ring_segment_programs.PROGRAMS,
)
_QUICK_RACES = ("comes-back",)
_QUICK_SEGMENTS = "one writer leaves, the other one is killed"
_QUICK_TURNS = "3 processes, 2 are killed"
_RUNS = "put and get: real processes, two are killed, and altered runs: TLC and model"


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers: dict[str, Callable[[bool], list[Check]]] = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size == "large") if level in offers else []


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(large: bool) -> list[Check]:
    every = [*ring_graphs.FIXED, *ring_graphs.WAITING, *ring_graphs.OVERFLOW, *ring_graphs.PLACE, *ring_graphs.BIAS]
    every += ring_graphs.LAST
    found = [Check(_P, "V2", name, _graph, (name, name)) for name in (every if large else ring_graphs.SMALL)]
    if large:
        found += [Check(_P, "V2", f"without {name}", _graph, (f"without {name}", name)) for name in ring_graphs.FAULTY]
    return found


def _graph(what: str, name: str) -> Row:
    tables: Mapping[str, Any] = {
        **ring_graphs.FIXED,
        **ring_graphs.WAITING,
        **ring_graphs.OVERFLOW,
        **ring_graphs.PLACE,
        **ring_graphs.BIAS,
        **ring_graphs.LAST,
    }
    config = {**tables, **ring_graphs.FAULTY}[name]
    return rows.graph(_P, what, rows.numbers(config.constants()), *ring_graphs.compared(config))


# -- V3, V4 --------------------------------------------------------------------------------------------------------


def _v3(large: bool) -> list[Check]:
    found = [Check(_P, "V3", f"every edge: {plan}", _edges, (plan,)) for plan in (*SMALL, *(LARGE if large else ()))]
    plans = SEGMENTS if large else (_QUICK_SEGMENTS,)
    found += [Check(_P, "V3", f"segments, every call: {plan}", _calls, (plan,)) for plan in plans]
    in_turn = TURNS if large else (_QUICK_TURNS,)
    return [*found, *(Check(_P, "V3", f"puts in turn: {plan}", _turns, (plan,)) for plan in in_turn)]


def _turns(plan: str) -> Row:
    done, how = turns(TURNS[plan]), "whole, and killed or stopped after each step"
    return _of_calls(f"puts in turn: {plan}", TURNS[plan].constants(), done, how)


def _calls(plan: str) -> Row:
    done, how = segments(SEGMENTS[plan]), "whole and killed after each step, on real files"
    return _of_calls(f"segments, every call: {plan}", SEGMENTS[plan].constants(), done, how)


def _of_calls(what: str, constants: Mapping[str, Any], done: Driven, how: str) -> Row:
    return Row(
        _P,
        "V3",
        what,
        ok=done.calls > 0 and done.walks > 0,
        states=done.states,
        edges=done.edges,
        bounds=rows.numbers(constants),
        detail=f"{done.walks} behaviours of {done.calls} calls, {how}; "
        f"{done.of - done.edges} of {done.of} edges start in the middle of another process's call",
    )


def _edges(plan: str) -> Row:
    return shared_memory_rows.every_edge(_P, plan, part_of(plan))


def _v4(large: bool) -> list[Check]:
    examples, length = (200, 300) if large else (10, 200)
    return [Check(_P, "V4", f"random behaviours: {plan}", _random, (plan, examples, length)) for plan in RANDOM]


def _random(plan: str, examples: int, length: int) -> Row:
    run = partial(run_random, part_of, plan, length=length)
    wanted = set(part_of(plan).model.actions) if "everything" in plan else {"Publish", "StoreCursor", "SeeFence"}
    return rows.random_runs(_P, f"random behaviours: {plan}", run, wanted, examples, length, unit="steps")


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(large: bool) -> list[Check]:
    programs = (*PROGRAMS, *LARGE_PROGRAMS) if large else _QUICK
    found = [Check(_P, "V5", name, _schedules, (name,)) for name in programs]
    executions = 1000 if large else 20
    found += [
        Check(_P, "V5", f"{name}, random schedules", _random_schedules, (name, executions)) for name in RANDOM_PROGRAMS
    ]
    races = tuple(RACES) if large else _QUICK_RACES
    return [*found, *(Check(_P, "V5", race_rows.race_name(name), _race, (name,)) for name in races)]


def _schedules(name: str) -> Row:
    return rows.schedules(_P, name, *{**PROGRAMS, **LARGE_PROGRAMS}[name])


def _random_schedules(name: str, executions: int) -> Row:
    return rows.random_schedules(_P, name, RANDOM_PROGRAMS[name], _SEED, executions)


def _race(name: str) -> Row:
    return race_rows.explored(_P, race_rows.race_name(name), race, name, BOUND, OUR_BOUNDS.get(name))


# -- V6 ------------------------------------------------------------------------------------------------------------


def _v6(large: bool) -> list[Check]:
    return [Check(_P, "V6", _RUNS, _traces, (12 if large else 1,))]


def _traces(number: int) -> Row:
    runs = [real_run(_SEED + count) for count in range(number)]
    bounds = f"{number} runs of 6 processes, seed {_SEED}"
    return shared_memory_rows.judged_processes(_P, _RUNS, bounds, runs, ALTERED, both)
