"""Has TLC judge recorded runs: is each a behaviour of ``dispatch/TraceDispatch.tla``?

Dispatch, and what extends it: bitmask, which equals it (``bitmask/BitmaskRefines.tla``), cache infos and connect tasks.

A run is the events of one channel, as ``spec/trace.schema.json`` has them: ``Open`` first, then what the host did in
its order. Many runs are judged by one start of TLC.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from tla import messages
from tla.run import ROOT, Run, RunError, execute
from tla.trace_events import Encoded, Event, encode, text_of
from tla.values import show

__all__ = ("GUARDS", "Verdict", "decide", "judge", "read_channels", "verdict_of")

_UNBOUNDED = 2**30
GUARDS = [
    "GuardOwnRead",
    "IdleGetKeepsExist",
    "ClearLowersExist",
    "ClearKeepsStarted",
    "ClearOncePerEpoch",
    "FenceFrees",
    "PutsInOrder",
    "LowerInside",
    "FenceWithdraws",
    "FencedCannotRead",
    "JoinSkips",
]
_INVARIANTS = [
    "TypeOK",
    "ExactlyOnceInOrder",
    "Bounded",
    "ExistCoherent",
    "NoGhostCall",
    "WaitingInOrder",
    "TraceInStep",
    "Progress",
]
_PROPERTIES = ["ClearsOnlySeen", "OnlyMembersRead", "JoinSkipsStarted"]


class Judged(Protocol):
    """A run as tuples for TLC; what is wrong with the event at ``malformed_at``, if anything is."""

    @property
    def events(self) -> tuple[tuple[Any, ...], ...]: ...

    @property
    def malformed(self) -> str: ...

    @property
    def malformed_at(self) -> int: ...


@dataclass(frozen=True)
class Verdict:
    """Whether a run is a behaviour of the spec.

    Attributes:
        events: Events of the run, ``Open`` included.
        position: On rejection, the index of the first impossible event in the run; None when accepted.
        event: That event.
        reason: On rejection, why.
    """

    channel: str
    accepted: bool
    events: int
    position: int | None = None
    event: Event | None = None
    reason: str = ""

    def __str__(self) -> str:
        if self.accepted:
            return f"{self.channel}: accepted, {self.events} events"
        where = text_of(self.event) if self.event is not None else "(no event)"
        return f"{self.channel}: REJECTED at event {self.position} of {self.events}: {where}\n  {self.reason}"


def read_channels(file: Path) -> list[list[Event]]:
    """Return the runs of a trace file, one for each channel in it. ValueError names a line that is not an event."""
    channels: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            event = json.loads(line)
            channels[event["protocol"], event["dp"]].append(event)
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{file}, line {number} is not an event: {line[:200]}") from None
    return [channels[key] for key in sorted(channels)]


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    encoded = [encode(trace) for trace in traces]
    reached: dict[int, tuple[int, str]] = {}
    # Constants are the same for all runs of one start, so runs of one shape are judged together.
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, run in enumerate(encoded):
        if run.ranks:
            groups[run.ranks, run.depth].append(index)
    for indices in groups.values():
        reached |= decide(indices, lambda some: _run([encoded[index] for index in some]))
    return [
        verdict_of(trace, run, *reached.get(i, (0, "")))
        for i, (trace, run) in enumerate(zip(traces, encoded, strict=True))
    ]


def verdict_of(trace: Sequence[Event], run: Judged, explained: int, broken: str) -> Verdict:
    """Return what is to be said of a run of which so many events are explained."""
    channel = f"{trace[0].get('protocol', '?')} dp={trace[0].get('dp', '?')}" if trace else "(no run)"
    verdict = Verdict(channel, True, len(trace))
    if broken:
        reason = f"up to it the run is allowed, but {broken} does not hold after it: a defect of the spec"
        position = explained
    elif explained < len(run.events):
        reason = "the spec allows no such action here, or not with this result or this state after it"
        position = 1 + explained
    elif run.malformed:
        reason, position = run.malformed, run.malformed_at
    else:
        return verdict
    event = trace[position] if position < len(trace) else None
    return replace(verdict, accepted=False, position=position, event=event, reason=reason)


def decide(indices: Sequence[int], run: Callable[[list[int]], messages.Result]) -> dict[int, tuple[int, str]]:
    """Return for each run how many of its events are explained, and the property that broke there, if one did.

    ``run`` starts TLC on some of the runs.
    """
    reached: dict[int, tuple[int, str]] = {}
    left = list(indices)
    while left:
        result = run(list(left))
        positions = [0] * len(left)
        for tag, k, at in result.printed:
            if tag == "AT":
                positions[k - 1] = max(positions[k - 1], at - 1)
        if result.outcome == messages.HOLDS:
            return reached | {index: (positions[i], "") for i, index in enumerate(left)}
        if result.outcome != messages.VIOLATED or not result.trace:
            raise RunError(f"TLC could not judge the runs: {'; '.join(result.errors)}")
        # TLC stops at a violation: note it, and judge the others without this run.
        last = result.trace[-1].state
        reached[left.pop(last["k"] - 1)] = (last["at"] - 1, result.violated)
    return reached


def _run(runs: Sequence[Encoded]) -> messages.Result:
    with tempfile.TemporaryDirectory(prefix="fdcomm-trace-") as name:
        folder = Path(name)
        (folder / "TraceData.tla").write_text(_data(runs), encoding="utf-8")
        # TLC wants the configuration beside the root module, and both change with the runs.
        (folder / "Judge.tla").write_text("---- MODULE Judge ----\nEXTENDS TraceDispatch\n====\n", encoding="utf-8")
        (folder / "Judge.cfg").write_text(_config(runs), encoding="utf-8")
        return execute(Run(folder / "Judge.tla", folder / "Judge.cfg", timeout_s=300.0, library=(ROOT / "dispatch",)))


def _data(runs: Sequence[Encoded]) -> str:
    lines = ["---- MODULE TraceData ----"]
    for number, run in enumerate(runs, 1):
        lines.append(f"T{number} == <<")
        lines.append(",\n".join(show(event) for event in run.events))
        lines.append(">>")
    lines.append("Traces == <<" + ", ".join(f"T{number}" for number in range(1, len(runs) + 1)) + ">>")
    lines.append("Fenced == " + show(tuple(run.fenced for run in runs)))
    return "\n".join([*lines, "====", ""])


def _config(runs: Sequence[Encoded]) -> str:
    ranks, producers = runs[0].ranks, max(1, *(run.producers for run in runs))
    constants: dict[str, Any] = {
        "N": ranks,
        "P": producers,
        "Depth": runs[0].depth,
        "Leavers": frozenset(range(ranks)),
        "Mortal": frozenset(range(ranks)),
        "MortalProducers": frozenset(range(producers)),
        "Quitters": frozenset(range(producers)),
        **dict.fromkeys(("MaxCalls", "MaxEpoch", "PerProducer"), _UNBOUNDED),
        **dict.fromkeys(GUARDS, True),
    }
    lines = ["SPECIFICATION TraceSpec", "CONSTANTS", *(f"{name} = {show(value)}" for name, value in constants.items())]
    return "\n".join([*lines, "INVARIANTS", *_INVARIANTS, "PROPERTIES", *_PROPERTIES, ""])
