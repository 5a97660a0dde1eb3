"""Recorded runs of FMQ queues, judged by ``models/fmq.py``.

A payload is written in the call that puts its message: Put stands for Write, too.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.fmq import Fmq
from models.fmq_state import Config, State, initial_state
from models.kernel import Action

__all__ = ("accept_channel",)

Event = dict[str, Any]
# Action -> its parameters in the model, and what the event says beside them.
_SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Put": (("p",), ("number", "base")),
    "Connect": (("p",), ("base", "again")),
    "Cut": (("p", "k"), ()),
    "End": (("p", "k"), ()),
    "HearAck": (("p",), ("number",)),
    "StartConsumer": ((), ()),
    "EndConsumer": ((), ()),
    "Take": (("p", "c"), ("number", "base")),
    "Skip": (("p", "c"), ("number", "base")),
    "Drop": (("p", "c"), ("number", "base")),
    "Finish": (("p",), ("number",)),
    "Acknowledge": (("p",), ("number",)),
    "Reclaim": (("p",), ("number",)),
    "Sweep": ((), ()),
}
_MOST = 10_000


class _Malformed(Exception):
    """The event cannot be one of this run."""


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    sizes: list[Any] = [opening.get(name) for name in ("producers", "window", "large")]
    usable = all(type(size) is int and size >= 0 for size in sizes) and type(opening.get("keep")) is bool
    if opening.get("action") != "Open" or not usable or 0 in sizes[:2]:
        reason = "the first event must be Open, with producers, window, large and keep"
        return Verdict(channel, False, 1, reason, json.dumps(opening))
    every = opening["large"]
    large = frozenset(range(every, _MOST, every)) if every else frozenset()
    everybody = frozenset(range(opening["producers"]))
    config = Config(opening["producers"], None, opening["window"], large, None, None, everybody, opening["keep"])
    observations: list[Observation[State]] = []
    wrong = ""
    for number, event in enumerate(rest, 1):
        try:
            observations.append(_observe(event, number, large))
        except _Malformed as error:
            wrong = str(error)
            break
    verdict = judge(Fmq(config), [initial_state(config)], observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=_text(rest[number]))
    return verdict


def _observe(event: Event, number: int, large: frozenset[int]) -> Observation[State]:
    if event.get("seq") != number:
        raise _Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise _Malformed(f"{name!r} is not an action that a handle can see")
    params, beside = _SHAPES[name]
    args = event.get("args")
    if not isinstance(args, dict) or set(args) != {*params, *beside}:
        raise _Malformed(f"args of {name} must be numbers {sorted({*params, *beside})}, not {args}")
    if any(type(value) is not int or value < 0 for value in args.values()):
        raise _Malformed(f"args of {name} must be numbers, not {args}")

    def differs(before: State, after: State) -> str:
        said = {key: args[key] for key in beside}
        seen = _seen(name, args, before, after)
        return "" if seen == said else f"it says {said}, and the model {seen}"

    action = Action(name, tuple((key, args[key]) for key in params))
    written = name == "Put" and args["number"] in large
    return Observation(_text(event), action, differs, Action("Write", (("p", args["p"]),)) if written else None)


def _seen(name: str, args: Event, before: State, after: State) -> dict[str, int]:
    p = args.get("p", 0)
    if name == "Put":
        return {"number": after.sent[p], "base": before.base[p]}
    if name == "Connect":
        return {"base": after.base[p], "again": len(after.flow[p][-1])}
    if name == "HearAck":
        return {"number": before.ack[p][0]}
    if name in ("Take", "Skip", "Drop"):
        frame = before.flow[p][args["c"] - 1][0]
        return {"number": frame.n, "base": frame.base}
    if name in ("Finish", "Acknowledge", "Reclaim"):
        return {"number": {"Finish": after.done, "Acknowledge": after.told, "Reclaim": before.last}[name][p]}
    return {}


def _text(event: Event) -> str:
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown})"
