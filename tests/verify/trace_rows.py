"""V6 of the protocols whose runs a module of tests/traces makes: random ones, real ones, and altered ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any

from models.acceptance import Verdict
from tests.verify import rows
from tests.verify.check import Row

__all__ = ("judged_random", "judged_real")

_Run = list[dict[str, Any]]
_Judge = Callable[[list[Any]], Sequence[Any]]
_Accept = Callable[[Any], list[Verdict]]


def judged_random(
    protocol: str,
    what: str,
    bounds: str,
    runs: ModuleType,
    drawn: Sequence[_Run],
    events: Collection[str],
    judge: _Judge,
    accept: _Accept,
) -> Row:
    """A whole run and random ones, in which every event has to occur, and the whole one altered.

    Args:
        protocol: Protocol of the row.
        what: What the row is called.
        bounds: What the runs were.
        runs: The module of tests/traces: whole_run, ALTERED, lines_of.
        drawn: The random runs.
        events: What has to occur.
        judge: TLC's verdicts of many runs.
        accept: The model's verdicts of the lines of a run.
    """
    whole = runs.whole_run()
    good = [whole, *drawn]
    occurred = Counter(event["action"] for run in good for event in run)
    absent = sorted(name for name in events if not occurred[name])
    problems = [f"never occurred: {absent}"] if absent else []
    bad = {name: change(whole) for name, change in runs.ALTERED.items()}
    return rows.judged(protocol, what, bounds, good, bad, judge, lambda run: accept(runs.lines_of(run))[0], problems)


def judged_real(
    protocol: str, what: str, bounds: str, runs: ModuleType, drawn: Sequence[_Run], judge: _Judge, accept: _Accept
) -> Row:
    """The run of a real host, which has to have every event, random runs, and a whole random one altered.

    Args:
        protocol: Protocol of the row.
        what: What the row is called.
        bounds: What the runs were.
        runs: The module of tests/traces: real_run, EVENTS, whole_run, ALTERED, lines_of.
        drawn: The random runs.
        judge: TLC's verdicts of many runs.
        accept: The model's verdicts of the lines of a run.
    """
    real = runs.real_run()
    problems = [] if {event["action"] for event in real} == {"Open", *runs.EVENTS} else ["the real run lacks actions"]
    whole = runs.whole_run()
    bad = {name: change(whole) for name, change in runs.ALTERED.items()}
    good = [real, *drawn]
    return rows.judged(protocol, what, bounds, good, bad, judge, lambda run: accept(runs.lines_of(run))[0], problems)
