"""Has TLC judge recorded runs of processes at a ring: behaviours of ``ring/TraceRing.tla``?

A run is ``Open`` with its bounds, and then what the processes did: ``who`` is the process, or of Fence the rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tla.judging import Malformed, config_of, judge_all, read_events, run_tlc
from tla.noted_steps import Encoded, noted
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "ring"
_BOUNDS = ("ranks", "slots", "puts", "joins", "clears")
_INVARIANTS = ("TypeOK", "NoTornRead", "ExactlyOnceInOrder", "Complete", "OneFate", "HonestFence", "Progress")
_WRITER = ("StartPut", "LoadCursor", "LoadLife", "SeeVoid", "Fill", "Publish", "TakeOver")
_READER = (
    "SeeSeq",
    "SeeFence",
    "StoreBegun",
    "SeeGate",
    "CopyData",
    "SeeLife",
    "StoreCursor",
    "StoreSkip",
    "StoreLife",
    "StoreStart",
)
_CLEARER = ("CloseGate", "SeeHead", "SeeMark", "StoreVoid", "OpenGate", "ClearAgain")
_OTHERS = ("BarrierReaches", "SeeBegun", "Flush", "Kill", "Fence", "Got")
_ACTIONS = (*_WRITER, *_READER, *_CLEARER, *_OTHERS)
_GUARDS = (
    "PublishLast",
    "PublishFence",
    "WaitsForCursors",
    "SkipsFenced",
    "LivesLast",
    "ChecksLife",
    "JoinBarrier",
    "AnnouncesBegin",
    "ClearBarrier",
    "KeepsBegun",
    "Resumes",
    "CompletesClear",
    "ComparesGate",
    "PassesOver",
    "LooksForVoids",
    "MarksOnce",
)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    bounds = tuple(first.get(name) for name in _BOUNDS)
    usable = all(type(value) is int and value >= 0 for value in bounds)
    usable = usable and min(first["ranks"], first["slots"], first["puts"]) >= 1 and first["joins"] <= first["ranks"]
    if first.get("action") != "Open" or not usable or (first.get("v"), first.get("protocol")) != (FORMAT, PROTOCOL):
        return Encoded(0, (), (), f"a run of a ring begins with Open, with v, protocol and {', '.join(_BOUNDS)}", 0)
    of, lines = (FORMAT, PROTOCOL, first.get("dp")), first["ranks"] + first["joins"]

    def event(found: Event) -> tuple[Any, ...]:
        name, who, value = noted(found, of, _ACTIONS)
        most = first["ranks"] if name == "Fence" else lines if name == "Got" else lines + 2
        if type(who) is not int or type(value) is not int or not 0 <= who < most:
            raise Malformed(f"there is no process {who}, or no value")
        return name, who, value

    events, malformed, at = read_events(trace, event)
    return Encoded(first["ranks"], tuple(int(value or 0) for value in bounds), events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("ring/TraceRing.tla", runs, _config(runs[0])))


def _config(run: Encoded) -> str:
    ranks, slots, puts, joins, clears = run.bounds
    constants: dict[str, Any] = {
        "R": ranks,
        "N": slots,
        "Puts": puts,
        "Joins": joins,
        "Clears": clears,
        "Mortal": frozenset(range(ranks + joins + 2)),
        "Fenceable": frozenset(),
        "Ordered": True,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, ())
