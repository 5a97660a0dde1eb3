"""The rows of what is driven in shared memory: one load, store or system call at a time, and by real processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.conformance.word_walks import Part, drive
from tests.verify import rows
from tests.verify.check import Row

__all__ = ("every_edge", "judged_processes")

_Run = list[dict[str, Any]]


def every_edge(protocol: str, plan: str, part: Part) -> Row:
    """V3: every edge of a part of the protocol."""
    done = drive(part)
    return Row(
        protocol,
        "V3",
        f"every edge: {plan}",
        ok=done.edges > 0 and done.walks > 0,
        states=done.states,
        edges=done.edges,
        bounds=rows.numbers(part.config.constants()),
        detail=f"{done.walks} behaviours, one load, store or system call at a time",
    )


def judged_processes(
    protocol: str,
    what: str,
    bounds: str,
    runs: Sequence[_Run],
    alterations: Mapping[str, Callable[[_Run], _Run]],
    both: Callable[[list[_Run]], list[tuple[str, str]]],
) -> Row:
    """V6: both judges accept the runs of real processes, and reject each altered one at the same event.

    Args:
        protocol: Protocol of the row.
        what: What the row is called.
        bounds: What the runs were.
        runs: What the processes did.
        alterations: What is altered -> how.
        both: What is wrong with runs by the model and by TLC; AssertionError where they do not agree.
    """
    altered = [(name, change(run)) for run in runs for name, change in alterations.items()]
    try:
        answers = both([*runs, *(run for _, run in altered)])
        problems = [" and ".join(one) for one in answers[: len(runs)] if any(one)]
        problems += [
            f"accepted: {name}" for (name, _), one in zip(altered, answers[len(runs) :], strict=True) if not any(one)
        ]
    except AssertionError as error:
        problems = [str(error)]
    return Row(
        protocol,
        "V6",
        what,
        ok=not problems,
        edges=sum(map(len, runs)),
        bounds=bounds,
        detail="; ".join(problems)[:500].replace("\n", " ")
        or f"{len(runs)} runs accepted by both, {len(altered)} altered ones rejected by both at one event",
    )
