"""Recorded runs of barriers (NDJSON, one event a line), judged by the model.

A file may hold channels of any protocol; those of barriers (``barriers.<group>``) are judged, one run for each group
and replica. The numbers ``seq`` are given inside the host's critical section: 1, 2, 3, ... without a gap.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.barrier import Barrier
from models.barrier_state import LOST, UNSAID, Config, State, initial_state
from models.kernel import Action

__all__ = ("FORMAT", "PREFIX", "accept", "accept_file")

FORMAT = 1
PREFIX = "barriers."
_OF_RANK = ("Join", "Leave", "Fence", "Timeout")
_WAITS = ("Arrive", "Pass", "Mismatch", "Refuse")
_ARGS = {
    **dict.fromkeys(_OF_RANK, ("rank",)),
    **dict.fromkeys(_WAITS, ("rank", "barrier", "label", "round")),
    "Abort": ("barrier",),
    "Reset": ("barrier", "abort"),
}
_POST = {"generation", "arrived", "broken", "aborts", "lost"}

Event = dict[str, Any]


class _Malformed(Exception):
    """The line is not an event of this format."""


def accept_file(path: str) -> list[Verdict]:
    """Judge every group of barriers in a trace file."""
    with open(path, encoding="utf-8") as lines:
        return accept(lines)


def accept(lines: Iterable[str]) -> list[Verdict]:
    """Judge every group of barriers in a trace. A line that cannot be read rejects the whole trace."""
    channels: dict[tuple[str, int], list[Event]] = {}
    for number, line in enumerate(lines, 1):
        try:
            event = _parse(line)
        except _Malformed as error:
            return [Verdict("trace", False, number, f"line {number}: {error}", line.strip()[:200])]
        if event["protocol"].startswith(PREFIX):
            channels.setdefault((event["protocol"], event["dp"]), []).append(event)
    if not channels:
        return [Verdict("trace", False, 0, "the trace has no barriers: there is no Open event of any")]
    return [_accept_channel(f"{name} dp={dp}", channels[name, dp]) for name, dp in sorted(channels)]


def _parse(line: str) -> Event:
    try:
        event = json.loads(line)
    except ValueError as error:
        raise _Malformed(f"not JSON ({error})") from None
    if not isinstance(event, dict) or event.get("v") != FORMAT:
        raise _Malformed(f"not an event of format {FORMAT}")
    if not all(isinstance(event.get(key), str) for key in ("protocol", "action")) or type(event.get("dp")) is not int:
        raise _Malformed("protocol and action must be strings, and dp an integer")
    return event


def _accept_channel(channel: str, events: list[Event]) -> Verdict:
    opening, *rest = events
    ranks, names = opening.get("ranks"), opening.get("barriers")
    good = type(ranks) is int and ranks >= 1 and isinstance(names, list) and names
    if opening["action"] != "Open" or not good or not all(isinstance(name, str) for name in names or ()):
        reason = "the first event must be Open, with ranks and the names of the barriers"
        return Verdict(channel, False, 1, reason, json.dumps(opening))
    assert isinstance(ranks, int)
    everybody = frozenset(range(ranks))
    labels = _labels(rest)
    config = Config(
        ranks=ranks,
        barriers=len(names or ()),
        labels=max(1, len(labels)),
        max_rounds=None,
        max_aborts=None,
        leavers=everybody,
        mortal=everybody,
    )
    observations: list[Observation[State]] = []
    wrong, seq = "", 0
    for event in rest:
        try:
            if type(event.get("seq")) is not int or event["seq"] != seq + 1:
                raise _Malformed(f"events are missing, doubled or out of order: {seq + 1} is next")
            seq += 1
            observations.append(_observe(event, names or [], labels))
        except _Malformed as error:
            wrong = str(error)
            break
    verdict = judge(_Named(config), [initial_state(config)], observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=_text(rest[number]))
    return verdict


class _Named(Barrier):
    """The model in which a wait says what the events say: one label and round at a time, not all that there may be."""

    def rounds(self, s: State) -> Iterable[int]:
        """Any round that a recorded wait may name: the model looks at how it compares with the current one."""
        most = max(s.generation) + 2
        return range(UNSAID, most + 1)


def _labels(events: Iterable[Event]) -> dict[str, int]:
    found: dict[str, int] = {}
    for event in events:
        args = event.get("args")
        label = args.get("label") if isinstance(args, dict) else None
        if isinstance(label, str):
            found.setdefault(label, len(found))
    return found


def _observe(event: Event, names: Sequence[str], labels: dict[str, int]) -> Observation[State]:
    name, args, result, post = event["action"], event.get("args"), event.get("result", {}), event.get("post")
    wanted = _ARGS.get(name)
    if wanted is None:
        raise _Malformed(f"{name!r} is not an action that a host can see")
    if not isinstance(args, dict) or set(args) != set(wanted):
        raise _Malformed(f"args of {name} must be {wanted}, not {args}")
    if result != {}:
        raise _Malformed(f"{name} has no result, and this one has {result}")
    if not isinstance(post, dict) or set(post) != _POST:
        raise _Malformed(f"post must have exactly {sorted(_POST)}")
    values: dict[str, int] = {}
    for key in wanted:
        values[key] = _value(key, args[key], names, labels)
    if name == "Refuse":
        del values["label"]
    if values.get("round", UNSAID) > 0 and "round" in values:
        # Rounds to come are all alike: the model enumerates only the next ones.
        values["round"] = min(values["round"], max(post["generation"], default=0) + 2)
    action = Action(name, tuple(values.items()))
    silent = Action("Crash", (("rank", values["rank"]),)) if name == "Fence" else None

    def differs(before: State, after: State) -> str:
        shown = {
            "generation": list(after.generation),
            "arrived": [[a.rank for a in there] for there in after.arrived],
            "broken": list(after.broken),
            "aborts": list(after.aborts),
            "lost": [rank for rank, status in enumerate(after.status) if status == LOST],
        }
        wrong = [f"{key} = {post[key]} (the model says {value})" for key, value in shown.items() if post[key] != value]
        return f"after it {', '.join(wrong)}" if wrong else ""

    return Observation(_text(event), action, differs, silent)


def _value(key: str, value: object, names: Sequence[str], labels: dict[str, int]) -> int:
    if key == "barrier":
        if value not in names:
            raise _Malformed(f"there is no barrier {value!r}: Open says {', '.join(names)}")
        return list(names).index(str(value))
    if key == "label":
        if not isinstance(value, str):
            raise _Malformed(f"label {value!r} is not a string")
        return labels[value]
    if key == "round" and value is None:
        return UNSAID
    if type(value) is not int or value < 0:
        raise _Malformed(f"{key} {value!r} is not a number from 0")
    return value


def _text(event: Event) -> str:
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event['action']}({shown})"
