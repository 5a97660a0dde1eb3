"""The rows that the protocols' checks make alike: what was covered, under which bounds, and what is said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from hypothesis import HealthCheck, settings

from fdcomm.testing import PCT, Bound, Exhaustive, Program, RandomWalk, Report, explore
from models.acceptance import Verdict
from models.graph import Difference, Named
from tests.traces.both_judges import objections
from tests.verify.check import Row

__all__ = (
    "core_edges",
    "graph",
    "host_edges",
    "host_name",
    "judged",
    "numbers",
    "random_runs",
    "random_schedules",
    "schedule",
    "schedules",
    "shown",
    "told",
    "whole_core",
)

S = TypeVar("S", bound=tuple[Any, ...])
Run = Sequence[Mapping[str, Any]]


# -- bounds --------------------------------------------------------------------------------------------------------


def numbers(constants: Mapping[str, Any]) -> str:
    """Return the constants that are numbers, as a row shows them."""
    return " ".join(f"{name}={value}" for name, value in constants.items() if type(value) is int)


def shown(constants: Mapping[str, Any]) -> str:
    """Return the constants that are no switches, as a row shows them."""
    return " ".join(
        f"{name}={{{','.join(map(str, sorted(value)))}}}" if isinstance(value, frozenset) else f"{name}={value}"
        for name, value in constants.items()
        if not isinstance(value, bool)
    )


# -- V2 ------------------------------------------------------------------------------------------------------------


def graph(protocol: str, what: str, bounds: str, wanted: Named[S], difference: Difference[S]) -> Row:
    """The model's graph beside TLC's."""
    return Row(
        protocol,
        "V2",
        what,
        ok=not difference,
        states=len(wanted.states),
        edges=len(wanted.edges),
        bounds=bounds,
        detail=f"the model differs from TLC: {difference.text(1)}".replace("\n", "; ") if difference else "equal",
    )


# -- V3 ------------------------------------------------------------------------------------------------------------


class _Driven(Protocol):
    """What was driven through the code."""

    @property
    def states(self) -> int: ...

    @property
    def edges(self) -> int: ...

    @property
    def refusals(self) -> int: ...


class _Counted(_Driven, Protocol):
    """What was driven through the code, of all edges that the graph has."""

    @property
    def of(self) -> int: ...


class _Walked(_Counted, Protocol):
    """What was driven through a host's channel, of all edges that the graph has."""

    @property
    def walks(self) -> int: ...


def core_edges(protocol: str, what: str, bounds: str, done: _Driven, detail: str = "") -> Row:
    """Every edge through the core, and in every state what must be refused."""
    return Row(
        protocol,
        "V3",
        what,
        ok=done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds,
        detail=detail or f"all edges, and {done.refusals} calls that must be refused, changed nothing",
    )


def whole_core(protocol: str, what: str, bounds: str, done: _Counted) -> Row:
    """The same, and no edge of the graph may be left out."""
    row = core_edges(protocol, what, bounds, done)
    return replace(row, ok=row.ok and done.edges == done.of)


def host_name(name: str) -> str:
    """Return what the row of a host's channel is called."""
    return f"host channel, every edge that a host can take: {name}"


def host_edges(protocol: str, what: str, bounds: str, done: _Walked, hidden: str) -> Row:
    """Every edge that a host can take; ``hidden`` says of the others why it cannot."""
    left = f"{done.of - done.edges} of {done.of} edges {hidden}"
    return core_edges(protocol, what, bounds, done, f"{done.walks} behaviours, {done.refusals} refusals; {left}")


# -- V4 ------------------------------------------------------------------------------------------------------------


def _long_runs(examples: int, steps: int) -> settings:
    """Return Hypothesis' settings for a state machine that runs as a check: always the same runs."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


def random_runs(
    protocol: str,
    what: str,
    run: Callable[[settings], Counter[str]],
    wanted: Collection[str],
    examples: int,
    steps: int,
    noun: str = "actions",
    unit: str = "rules",
) -> Row:
    """Random runs in which everything that is wanted has to occur.

    What they draw changes with every number in the code. If too few do not have everything, twice and then four times
    as many are run; a rare action is not a reason to always run so many.
    """
    for times in (1, 2, 4):
        counts = run(_long_runs(times * examples, steps))
        missing = sorted(name for name in wanted if not counts[name])
        if not missing:
            break
    rarest = min(wanted, key=lambda name: (counts[name], name))
    return Row(
        protocol,
        "V4",
        what,
        ok=not missing,
        edges=sum(counts.values()),
        bounds=f"{times * examples} runs of up to {steps} {unit}, derandomized",
        detail=f"never occurred: {', '.join(missing)}"
        if missing
        else f"all {len(wanted)} {noun} occurred, the rarest ({rarest}) {counts[rarest]} times",
    )


# -- V5 ------------------------------------------------------------------------------------------------------------


def told(report: Report) -> str:
    """Return one line about an exploration."""
    if report.failure is not None:
        return f"{report.failure.verdict}: {report.failure.message}; schedule {list(report.failure.choices)}"
    return f"{'complete' if report.complete else 'NOT complete'} in {report.executions} executions"


def schedule(protocol: str, what: str, report: Report, wrong: str = "", detail: str = "") -> Row:
    """An exploration of the code that ships, which has to be complete and without a failure."""
    if not wrong and (report.failure is not None or not report.complete):
        wrong = told(report)
    return Row(
        protocol,
        "V5",
        what,
        ok=not wrong,
        states=report.states,
        edges=report.steps,
        bounds=str(report.bound),
        detail=wrong.splitlines()[0] if wrong else detail or told(report),
    )


def schedules(protocol: str, what: str, program: Program, bound: Bound) -> Row:
    """Every schedule of a program up to the bound."""
    return schedule(protocol, what, explore(program, Exhaustive(), bound))


def random_schedules(protocol: str, name: str, program: Program, seed: int, executions: int) -> Row:
    """Random schedules of a program that has too many to try all."""
    bound = Bound(ticks=2, spurious=2)
    reports = [explore(program, strategy(seed, executions), bound) for strategy in (RandomWalk, PCT)]
    failed = next((report for report in reports if report.failure is not None), None)
    return Row(
        protocol,
        "V5",
        f"{name}, random schedules",
        ok=failed is None,
        edges=sum(report.steps for report in reports),
        bounds=f"{sum(report.executions for report in reports)} executions, seed {seed}, {bound}",
        detail=told(failed) if failed else "not complete: uniform choices, and random priorities (PCT)",
    )


# -- V6 ------------------------------------------------------------------------------------------------------------


def judged(
    protocol: str,
    what: str,
    bounds: str,
    good: Sequence[Any],
    bad: Mapping[str, Any],
    judge: Callable[[list[Any]], Sequence[Any]],
    accept: Callable[[Any], Verdict],
    problems: Collection[str] = (),
) -> Row:
    """Recorded runs: both judges accept the good ones, and reject the altered ones at the same event.

    Args:
        protocol: Protocol of the row.
        what: What the row is called.
        bounds: What the runs were.
        good: Runs to accept, each beginning with Open.
        bad: What was altered -> the run.
        judge: TLC's verdicts of many runs; one start costs more than the judging.
        accept: The model's verdict of one run.
        problems: What is wrong already, say actions that did not occur.
    """
    by_tlc = judge([*good, *bad.values()])
    by_model = [accept(run) for run in (*good, *bad.values())]
    wrong = [*problems, *objections(by_model, by_tlc, bad)]
    events = sum(len(run) - 1 for run in good)
    return Row(
        protocol,
        "V6",
        what,
        ok=not wrong,
        edges=events,
        bounds=bounds,
        detail="; ".join(wrong)[:500].replace("\n", " ")
        or f"{len(good)} runs with {events} events accepted by both, {len(bad)} altered ones rejected by both at one "
        "event",
    )
