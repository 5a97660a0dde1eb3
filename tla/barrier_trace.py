"""Has TLC judge recorded runs of barriers: is each a behaviour of ``barrier/TraceBarrier.tla``?"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tla import messages
from tla.run import ROOT, Run, execute
from tla.trace import Verdict, decide, verdict_of
from tla.trace_events import FORMAT, Event
from tla.values import show

__all__ = ("PREFIX", "judge")

PREFIX = "barriers."
_UNBOUNDED = 2**30
_ARGS = {
    **{name: {"rank"} for name in ("Join", "Leave", "Fence", "Timeout")},
    **{name: {"rank", "barrier", "label", "round"} for name in ("Arrive", "Pass", "Mismatch", "Refuse")},
    "Abort": {"barrier"},
    "Reset": {"barrier", "abort"},
}
_GUARDS = (
    "FenceWithdraws",
    "FenceWakes",
    "ResetHarmless",
    "ResetNamesAbort",
    "RoundsCount",
    "OneWaitPerRank",
    "LabelsChecked",
    "RoundsChecked",
    "CrossWaitFound",
)
_INVARIANTS = (
    "Together",
    "NoGhostArrival",
    "OneArrival",
    "OneLabel",
    "RoundAsNamed",
    "NoCrossWait",
    "AbortsHold",
    "Progress",
)


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    barriers: int
    labels: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0


class _Malformed(Exception):
    """The event cannot be an event of this run."""


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.ranks: int = opening["ranks"]
        self.names: list[str] = opening["barriers"]
        self.labels: dict[str, int] = {}
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise _Malformed."""
        name, args = event.get("action"), event.get("args")
        if (event.get("v"), event.get("protocol"), event.get("dp")) != self.of:
            raise _Malformed(f"v, protocol and dp must be {self.of}")
        if type(event.get("seq")) is not int or event["seq"] != self.seq + 1:
            raise _Malformed(f"events are missing, doubled or out of order: {self.seq + 1} is next")
        self.seq += 1
        wanted = _ARGS.get(str(name))
        if wanted is None or not isinstance(args, dict) or set(args) != wanted or event.get("result", {}) != {}:
            raise _Malformed(f"{name} with {args} is not an action that a host can see")
        rank = self.number(args.get("rank", 0), self.ranks)
        where = self.names.index(args["barrier"]) if args.get("barrier") in self.names else -1
        if "barrier" in args and where < 0:
            raise _Malformed(f"there is no barrier {args['barrier']!r}")
        label = args.get("label", "")
        if not isinstance(label, str):
            raise _Malformed(f"label {label!r} is not a string")
        number = args.get("abort", args.get("round"))
        said = -1 if number is None else self.number(number, _UNBOUNDED)
        return (name, rank, max(where, 0), self.labels.setdefault(label, len(self.labels)), said, *self.post(event))

    def post(self, event: Event) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        post = event.get("post")
        keys = ("generation", "arrived", "broken", "aborts", "lost")
        if not isinstance(post, dict) or set(post) != set(keys):
            raise _Malformed(f"post must have exactly {keys}")
        lost = post["lost"]
        if not isinstance(lost, list):
            raise _Malformed("lost must be a list of ranks")
        rows = [post[key] for key in keys[:-1]]
        if not all(isinstance(row, list) and len(row) == len(self.names) for row in rows):
            raise _Malformed("each part of post must have one value for each barrier")
        generation, arrived, broken, aborts = rows
        if not all(isinstance(there, list) for there in arrived) or not all(type(value) is bool for value in broken):
            raise _Malformed("arrived must be lists of ranks, and broken true or false")
        return (
            tuple(self.number(value, _UNBOUNDED) for value in generation),
            tuple(tuple(self.number(rank, self.ranks) for rank in there) for there in arrived),
            tuple(broken),
            tuple(self.number(value, _UNBOUNDED) for value in aborts),
            frozenset(self.number(rank, self.ranks) for rank in lost),
        )

    @staticmethod
    def number(value: object, limit: int) -> int:
        """Return a number below the limit."""
        if type(value) is not int or not 0 <= value < limit:
            raise _Malformed(f"{value!r} is not a number from 0 to {limit - 1}")
        return value


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    ranks, names = first.get("ranks"), first.get("barriers")
    usable = type(ranks) is int and ranks >= 1 and isinstance(names, list) and len(names) >= 1
    usable = usable and str(first.get("protocol", "")).startswith(PREFIX) and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        return Encoded(0, 0, 0, (), "a run of barriers begins with Open, with v, protocol, ranks and barriers", 0)
    encoder = _Encoder(first)
    events: list[tuple[Any, ...]] = []
    malformed, at = "", 0
    for index, event in enumerate(trace[1:], 1):
        try:
            events.append(encoder.event(event))
        except _Malformed as error:
            malformed, at = str(error), index
            break
    return Encoded(encoder.ranks, len(encoder.names), max(1, len(encoder.labels)), tuple(events), malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    encoded = [_encode(trace) for trace in traces]
    reached: dict[int, tuple[int, str]] = {}
    # Constants are the same for all runs of one start, so runs of one shape are judged together.
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, run in enumerate(encoded):
        if run.ranks:
            groups[run.ranks, run.barriers].append(index)
    for indices in groups.values():
        reached |= decide(indices, lambda some: _run([encoded[index] for index in some]))
    return [
        verdict_of(trace, run, *reached.get(i, (0, "")))
        for i, (trace, run) in enumerate(zip(traces, encoded, strict=True))
    ]


def _run(runs: Sequence[Encoded]) -> messages.Result:
    with tempfile.TemporaryDirectory(prefix="fdcomm-trace-") as name:
        folder = Path(name)
        lines = ["---- MODULE TraceData ----", "EXTENDS Integers"]
        for number, run in enumerate(runs, 1):
            lines.append(f"T{number} == <<" + ",\n".join(show(event) for event in run.events) + ">>")
        lines.append("Traces == <<" + ", ".join(f"T{number}" for number in range(1, len(runs) + 1)) + ">>")
        (folder / "TraceData.tla").write_text("\n".join([*lines, "====", ""]), encoding="utf-8")
        # TLC wants the configuration beside the root module, and both change with the runs.
        (folder / "Judge.tla").write_text("---- MODULE Judge ----\nEXTENDS TraceBarrier\n====\n", encoding="utf-8")
        (folder / "Judge.cfg").write_text(_config(runs), encoding="utf-8")
        return execute(Run(folder / "Judge.tla", folder / "Judge.cfg", timeout_s=300.0, library=(ROOT / "barrier",)))


def _config(runs: Sequence[Encoded]) -> str:
    everybody = frozenset(range(runs[0].ranks))
    constants: dict[str, Any] = {
        "N": runs[0].ranks,
        "B": runs[0].barriers,
        "L": max(run.labels for run in runs),
        "MaxRounds": _UNBOUNDED,
        "MaxAborts": _UNBOUNDED,
        "Named": True,
        "Leavers": everybody,
        "Mortal": everybody,
        **dict.fromkeys(_GUARDS, True),
    }
    lines = ["SPECIFICATION TraceSpec", "CONSTANTS", *(f"{name} = {show(value)}" for name, value in constants.items())]
    return "\n".join([*lines, "INVARIANTS", *_INVARIANTS, "PROPERTIES", "PassNeedsAll", ""])
