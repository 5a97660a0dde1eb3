"""V3 to V6 of signals: the shipping programs and classes."""

from __future__ import annotations

from collections.abc import Callable

from models.signal import Signal
from tests.conformance.signal_edges import LARGE, SMALL, bounds, drive_signal
from tests.schedules.signal_programs import LARGER, PROGRAMS
from tests.stateful.signal_machine import run_simulated
from tests.stateful.signal_process_machine import RULES, run_processes
from tests.traces.signal_runs import ALTERED, both, record, switches
from tests.verify import rows
from tests.verify.check import Check, Row

__all__ = ("checks",)

P = "signal"
SEED = 20_304
_RUNS = "runs of 3 real processes, some killed, and altered ones: TLC and model"
_SIMULATED, _REAL = "simulated processes beside the model, random runs", "real processes, random runs"


def checks(level: str, size: str) -> list[Check]:
    """Return the checks of a level."""
    small = size == "small"
    if level == "V3":
        return [_check(level, f"every edge: {name}", _edges, name) for name in (SMALL if small else {**SMALL, **LARGE})]
    if level == "V4":
        found = [_check(level, _SIMULATED, _random, _SIMULATED, 50 if small else 2000, 50)]
        return found if small else [*found, _check(level, _REAL, _random, _REAL, 60, 40)]
    if level == "V5":
        programs = PROGRAMS if small else {**PROGRAMS, **LARGER}
        return [_check(level, name, _schedules, name) for name in programs]
    if level == "V6":
        return [_check(level, _RUNS, _runs, *((1, 20) if small else (16, 8)))]
    return []


def _check(level: str, what: str, run: Callable[..., Row], *arguments: object) -> Check:
    return Check(P, level, what, run, arguments)


def _edges(name: str) -> Row:
    config = {**SMALL, **LARGE}[name]
    done = drive_signal(config)
    return Row(
        P,
        "V3",
        f"every edge: {name}",
        ok=done.edges > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(config),
        detail=f"all edges in {done.walks} behaviours of simulated processes in a real folder",
    )


def _random(what: str, examples: int, steps: int) -> Row:
    simulated = what == _SIMULATED
    run = run_simulated if simulated else run_processes
    wanted = (*Signal().actions, "crash inside", "write") if simulated else RULES
    return rows.random_runs(P, what, run, wanted, examples, steps, "kinds of steps")


def _schedules(name: str) -> Row:
    return rows.schedules(P, name, *{**PROGRAMS, **LARGER}[name])


def _runs(count: int, calls: int) -> Row:
    runs = [record(SEED + number, calls=calls) for number in range(count)]
    try:
        answers = both([*runs, *(change(runs[0]) for change in ALTERED.values())])
        problems = [" and ".join(one) for one in answers[:count] if any(one)]
        problems += [f"accepted: {name}" for name, one in zip(ALTERED, answers[count:], strict=True) if not any(one)]
    except AssertionError as error:
        problems = [str(error)]
    met = sum(map(switches, runs))
    return Row(
        P,
        "V6",
        _RUNS,
        ok=not problems and met > 0,
        edges=sum(len(steps) for run in runs for steps in run),
        bounds=f"{count} runs, 6 lives of {calls} calls each, seed {SEED}",
        detail="; ".join(problems)[:500].replace("\n", " ")
        or f"{count} runs accepted by both, {len(ALTERED)} altered ones rejected by both after equally many steps; "
        f"{met} changes from one process to another",
    )
