"""The checks of typed access to signals at the levels V2 to V6. V1 and V7 are in the manifest and the register."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.conformance.word_plans import LARGE, RANDOM, SMALL, part_of
from tests.refine import word_graphs
from tests.schedules.word_programs import LARGE_PROGRAMS, PROGRAMS, RACES, race
from tests.stateful.memory_walks import run_random
from tests.traces.word_runs import ALTERED, both, real_run
from tests.verify import race_rows, rows, shared_memory_rows
from tests.verify.check import Check, Row

__all__ = ("checks",)

_SEED = 20_401


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    offers: dict[str, Callable[[bool], list[Check]]] = {"V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6}
    return offers[level](size == "large") if level in offers else []


def _check(level: str, what: str, run: Callable[..., Row], *args: object) -> Check:
    return Check("word", level, what, run, args)


# -- V2 ------------------------------------------------------------------------------------------------------------


def _v2(large: bool) -> list[Check]:
    names = list(word_graphs.FIXED) if large else list(word_graphs.SMALL)
    found = [_check("V2", name, _graph, name, name) for name in names]
    if large:
        found += [_check("V2", f"without {name}", _graph, f"without {name}", name) for name in word_graphs.FAULTY]
    return found


def _graph(what: str, name: str) -> Row:
    part, config = {**word_graphs.FIXED, **word_graphs.FAULTY}[name]
    wanted, difference = word_graphs.compared(part, config)
    return rows.graph("word", what, rows.numbers(config.constants()), wanted, difference)


# -- V3, V4 --------------------------------------------------------------------------------------------------------


def _v3(large: bool) -> list[Check]:
    return [_check("V3", f"every edge: {plan}", _edges, plan) for plan in (*SMALL, *(LARGE if large else ()))]


def _edges(plan: str) -> Row:
    return shared_memory_rows.every_edge("word", plan, part_of(plan))


def _v4(large: bool) -> list[Check]:
    examples, length = (100, 150) if large else (15, 120)
    return [_check("V4", f"random behaviours: {plan}", _random, plan, examples, length) for plan in RANDOM]


def _random(plan: str, examples: int, length: int) -> Row:
    run = partial(run_random, part_of, plan, length=length)
    wanted = set(part_of(plan).model.actions) - {"LoadToken", "GiveUp"}
    return rows.random_runs("word", f"random behaviours: {plan}", run, wanted, examples, length, unit="steps")


# -- V5 ------------------------------------------------------------------------------------------------------------


def _v5(large: bool) -> list[Check]:
    found = [_check("V5", name, _schedules, name) for name in (*PROGRAMS, *(LARGE_PROGRAMS if large else ()))]
    return [
        *found,
        *(_check("V5", race_rows.race_name(name), _race, name) for name in RACES if large or name == "lost-update"),
    ]


def _schedules(name: str) -> Row:
    return rows.schedules("word", name, *{**PROGRAMS, **LARGE_PROGRAMS}[name])


def _race(name: str) -> Row:
    return race_rows.explored("word", race_rows.race_name(name), race, name)


# -- V6 ------------------------------------------------------------------------------------------------------------


_RUNS = "add, compare and set: real processes, one is killed, and altered runs: TLC and model"


def _v6(large: bool) -> list[Check]:
    return [_check("V6", _RUNS, _traces, 12 if large else 1)]


def _traces(number: int) -> Row:
    runs = [real_run(_SEED + count) for count in range(number)]
    bounds = f"{number} runs of 3 processes, seed {_SEED}"
    return shared_memory_rows.judged_processes("word", _RUNS, bounds, runs, ALTERED, both)
