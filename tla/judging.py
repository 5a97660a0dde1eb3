"""What every judge of recorded runs does: runs of one shape to one run of TLC, and its answer to verdicts."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tla import messages
from tla.run import ROOT, Run, execute
from tla.trace import Judged, Verdict, decide, verdict_of
from tla.trace_events import Event
from tla.values import show

__all__ = ("Malformed", "Shaped", "check_order", "config_of", "judge_all", "number", "read_events", "run_tlc")


class Malformed(Exception):
    """The event cannot be an event of this run."""


class Shaped(Judged, Protocol):
    """A run for TLC."""

    @property
    def ranks(self) -> int:
        """How many ranks the host has; 0 when there is no usable Open."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The constants of the run. Runs of one shape are judged together."""
        ...


T = TypeVar("T", bound=Shaped)


def judge_all(
    traces: Sequence[Sequence[Event]],
    encode: Callable[[Sequence[Event]], T],
    run: Callable[[Sequence[T]], messages.Result],
) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    encoded = [encode(trace) for trace in traces]
    reached: dict[int, tuple[int, str]] = {}
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for index, one in enumerate(encoded):
        if one.ranks:
            groups[one.shape].append(index)
    for indices in groups.values():
        reached |= decide(indices, lambda some: run([encoded[index] for index in some]))
    return [
        verdict_of(trace, one, *reached.get(i, (0, "")))
        for i, (trace, one) in enumerate(zip(traces, encoded, strict=True))
    ]


def read_events(
    trace: Sequence[Event], event: Callable[[Event], tuple[Any, ...]]
) -> tuple[tuple[tuple[Any, ...], ...], str, int]:
    """Return the events after Open until the first malformed one, what is wrong with that one, and where it is."""
    events: list[tuple[Any, ...]] = []
    for index, found in enumerate(trace[1:], 1):
        try:
            events.append(event(found))
        except Malformed as error:
            return tuple(events), str(error), index
    return tuple(events), "", 0


def check_order(event: Event, of: tuple[object, ...], seq: int) -> int:
    """Return the number of the event, which must be of this run and the next after ``seq``."""
    if (event.get("v"), event.get("protocol"), event.get("dp")) != of:
        raise Malformed(f"v, protocol and dp must be {of}")
    if type(event.get("seq")) is not int or event["seq"] != seq + 1:
        raise Malformed(f"events are missing, doubled or out of order: {seq + 1} is next")
    return seq + 1


def number(value: object, limit: int) -> int:
    """Return a number below the limit."""
    if type(value) is not int or not 0 <= value < limit:
        raise Malformed(f"{value!r} is not a number from 0 to {limit - 1}")
    return value


def config_of(constants: Mapping[str, Any], invariants: Sequence[str], properties: Sequence[str]) -> str:
    """Return the configuration of a judging run."""
    lines = ["SPECIFICATION TraceSpec", "CONSTANTS", *(f"{name} = {show(value)}" for name, value in constants.items())]
    return "\n".join([*lines, "INVARIANTS", *invariants, "PROPERTIES", *properties, ""])


def run_tlc(module: str, runs: Sequence[Judged], config: str) -> messages.Result:
    """Run TLC over ``tla/<module>`` with the events of the runs in a module of their own."""
    spec = ROOT / module
    with tempfile.TemporaryDirectory(prefix="fdcomm-trace-") as name:
        folder = Path(name)
        lines = ["---- MODULE TraceData ----", "EXTENDS Integers"]
        for k, one in enumerate(runs, 1):
            lines.append(f"T{k} == <<" + ",\n".join(show(event) for event in one.events) + ">>")
        lines.append("Traces == <<" + ", ".join(f"T{k}" for k in range(1, len(runs) + 1)) + ">>")
        (folder / "TraceData.tla").write_text("\n".join([*lines, "====", ""]), encoding="utf-8")
        # TLC wants the configuration beside the root module, and both change with the runs.
        root = f"---- MODULE Judge ----\nEXTENDS {spec.stem}\n====\n"
        (folder / "Judge.tla").write_text(root, encoding="utf-8")
        (folder / "Judge.cfg").write_text(config, encoding="utf-8")
        return execute(Run(folder / "Judge.tla", folder / "Judge.cfg", timeout_s=300.0, library=(spec.parent,)))
