"""Has TLC judge recorded runs of signals: is each a behaviour of ``signal/TraceSignal.tla``?

A run is ``Open`` with the number of processes, then the steps of each process in its order, with the span of time in
which each was taken. No order of the steps of different processes was recorded: TLC looks for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tla.judging import Malformed, config_of, judge_all, number, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "signal"
_ACTIONS = (
    *("CallCreate", "CallClear", "CallAttach", "GiveUp", "Close", "TakeGuard", "Examine", "DropTemp", "MakeTemp"),
    *("Allocate", "NoSpace", "Fill", "TakeLock", "Supersede", "Publish", "DropGuard", "Look", "MarkGone", "Unlink"),
    *("Open", "ShareGuard", "Validate", "Crash", "Restart"),
)
_GUARDS = (
    *("GuardTaken", "OwnerChecked", "LockFirst", "FillFirst", "InodeChecked"),
    *("Supersedes", "ClearMarks", "LinkFirst", "TempDropped"),
)
_INVARIANTS = (
    *("TypeOK", "OnlyWhole", "HoldersCanKnow", "OneOwner", "NothingInTheWay", "GuardedInside", "LeftByCrash"),
    "Progress",
)
_PROPERTIES = ("OnlyExamined", "LiveIsKept", "AttachersChangeNothing")
_KEYS = {"v", "protocol", "dp", "process", "action", "start", "end", "file", "insist", "error"}
_MAX = 2**63


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is its number of processes; 0 when it cannot be judged."""

    ranks: int
    files: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return (self.ranks,)


def _step(event: Event, of: tuple[object, ...], ends: list[int]) -> list[Any]:
    """Return a step, or raise Malformed."""
    if set(event) != _KEYS or (event["v"], event["protocol"], event["dp"]) != of:
        raise Malformed(f"a step has exactly {sorted(_KEYS)}, and v, protocol and dp are {of}")
    process, action, error, insist = (event[key] for key in ("process", "action", "error", "insist"))
    number(process, len(ends))
    if action not in _ACTIONS:
        raise Malformed(f"{action!r} is not an action that a process can note")
    if type(insist) is not bool or not (error is None or isinstance(error, str)):
        raise Malformed("insist must be true or false, and error a string or null")
    start, end, file = (number(event[key], _MAX) for key in ("start", "end", "file"))
    if not ends[process] <= start <= end:
        raise Malformed("a step begins when the one before it was noted, or later, and ends after that")
    ends[process] = end
    return [process, action, start, end, file, insist, "-" if error is None else error]


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    processes: Any = first.get("processes")
    usable = type(processes) is int and processes >= 1
    if first.get("action") != "Open" or not usable or (first.get("v"), first.get("protocol")) != (FORMAT, PROTOCOL):
        return Encoded(0, 0, (), "a run of a signal begins with Open, with v, protocol and processes", 0)
    of, ends, steps = (FORMAT, PROTOCOL, first.get("dp")), [0] * processes, []
    for index, event in enumerate(trace[1:], 1):
        try:
            steps.append(_step(event, of, ends))
        except Malformed as error:
            # Steps have no order but that of their spans, so nothing can be said of the others alone.
            return Encoded(0, 0, (), str(error), index)
    # TLC's numbers have 32 bits: moments and inodes are numbered in their order.
    moments = {moment: place for place, moment in enumerate(sorted({t for step in steps for t in step[2:4]}))}
    inodes = {inode: place for place, inode in enumerate(sorted({0, *(step[4] for step in steps)}))}
    for step in steps:
        step[2:5] = moments[step[2]], moments[step[3]], inodes[step[4]]
    files = sum(step[1] == "MakeTemp" for step in steps) + processes
    return Encoded(processes, files, tuple(tuple(step) for step in steps))


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide.

    The position of a rejected run is one more than the number of steps in the longest order that is allowed.
    """
    verdicts = judge_all(traces, _encode, lambda runs: run_tlc("signal/TraceSignal.tla", runs, _config(runs)))
    return [
        verdict if verdict.accepted or _encode(trace).malformed else _of_order(verdict)
        for verdict, trace in zip(verdicts, traces, strict=True)
    ]


def _of_order(verdict: Verdict) -> Verdict:
    if "defect" in verdict.reason:
        return replace(verdict, event=None)
    steps = verdict.events - 1
    reason = f"no order that the spans allow explains more than {(verdict.position or 1) - 1} of the {steps} steps"
    return replace(verdict, event=None, reason=reason)


def _config(runs: Sequence[Encoded]) -> str:
    everybody = frozenset(range(runs[0].ranks))
    constants: dict[str, Any] = {
        "P": runs[0].ranks,
        "I": max(run.files for run in runs),
        **dict.fromkeys(("Creators", "Insisters", "Attachers", "Mortal"), everybody),
        "Foreign": False,
        "Full": True,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
