"""Has TLC judge recorded runs of processes at a meeting: behaviours of ``meeting/TraceMeeting.tla``?

A run is ``Open`` with its bounds, and then what the processes did: ``who`` is the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tla.judging import Malformed, config_of, judge_all, read_events, run_tlc
from tla.noted_steps import Encoded, noted
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "meeting"
_BOUNDS = ("ranks", "labels", "places", "calls")
_OUTCOMES = 6
_INVARIANTS = (
    "TypeOK",
    "PassNeedsAll",
    "OneFate",
    "OneEach",
    "Reasons",
    "OwnAbort",
    "Counts",
    "NoLostWakeUp",
    "Progress",
)
_WAITER = (
    "Begin",
    "SeeLife",
    "StoreLabel",
    "StoreWord",
    "Scan",
    "SeeTurn",
    "SeeStanding",
    "SeeWhy",
    "SeeNext",
    "Timeout",
    "RaiseFlag",
    "BarrierReaches",
    "SeeDue",
    "Rescan",
    "Sleep",
    "Rouse",
    "SeeAgain",
    "SeeDead",
    "LowerFlag",
)
_ANYBODY = (
    "TakeLock",
    "SeeTurnLocked",
    "LookLocked",
    "StoreWithdrawn",
    "StoreLife",
    "StoreCount",
    "StoreWhy",
    "StoreTurn",
    "LoadFlags",
    "Wake",
    "GiveLock",
    "Flush",
    "Kill",
)
_OTHERS = ("AskAbort", "AskPart", "AskFence", "AskReset", "Come", "Told")
_ACTIONS = (*_WAITER, *_ANYBODY, *_OTHERS)
_GUARDS = (
    "LooksAgain",
    "WithdrawsLocked",
    "LabelsChecked",
    "PlacesChecked",
    "FindsApart",
    "GoesOn",
    "TwoBanks",
    "FindsDead",
    "CompletesFence",
    "OwnLine",
    "ChecksLife",
    "Barrier",
    "Wakes",
    "Rechecks",
)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    bounds = tuple(first.get(name) for name in _BOUNDS)
    usable = all(type(value) is int and value >= 1 for value in bounds)
    if first.get("action") != "Open" or not usable or (first.get("v"), first.get("protocol")) != (FORMAT, PROTOCOL):
        return Encoded(0, (), (), f"a run of a meeting begins with Open, with v, protocol and {', '.join(_BOUNDS)}", 0)
    of, ranks = (FORMAT, PROTOCOL, first.get("dp")), first["ranks"]

    def event(found: Event) -> tuple[Any, ...]:
        name, who, value = noted(found, of, _ACTIONS)
        if type(who) is not int or type(value) is not int or not 0 <= who < ranks + 2:
            raise Malformed(f"there is no process {who}, or no value")
        if name == "Told" and (who == ranks or not 0 <= value < _OUTCOMES):
            raise Malformed(f"process {who} is told nothing, or there is no outcome {value}")
        return name, who, value

    events, malformed, at = read_events(trace, event)
    return Encoded(ranks, tuple(int(value or 0) for value in bounds), events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("meeting/TraceMeeting.tla", runs, _config(runs[0])))


def _config(run: Encoded) -> str:
    ranks, labels, places, calls = run.bounds
    constants: dict[str, Any] = {
        "N": ranks,
        "L": labels,
        "P": places,
        "Calls": calls,
        "Aborts": True,
        "Parts": True,
        "Fences": True,
        "Absent": frozenset(),
        "Timed": frozenset((*range(ranks), ranks + 1)),
        "Mortal": frozenset(range(ranks + 2)),
        "Comes": True,
        "Spurious": True,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, ())
