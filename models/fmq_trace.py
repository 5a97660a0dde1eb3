"""Recorded runs of FMQ queues, judged by ``models/fmq.py``.

A payload is written in the call that puts its message: Put stands for Write, too.
"""

from __future__ import annotations

from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.fmq import Fmq
from models.fmq_state import Config, State, initial_state
from models.kernel import Action
from models.recorded import Event, Malformed, in_words, not_opened, read

__all__ = ("accept_channel",)

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


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    sizes: list[Any] = [opening.get(name) for name in ("producers", "window", "large")]
    usable = all(type(size) is int and size >= 0 for size in sizes) and type(opening.get("keep")) is bool
    if opening.get("action") != "Open" or not usable or 0 in sizes[:2]:
        return not_opened(channel, opening, "producers, window, large and keep")
    every = opening["large"]
    large = frozenset(range(every, _MOST, every)) if every else frozenset()
    everybody = frozenset(range(opening["producers"]))
    config = Config(opening["producers"], None, opening["window"], large, None, None, everybody, opening["keep"])
    reading = read(rest, lambda event, number: _observe(event, number, large))
    return reading.ended(judge(Fmq(config), [initial_state(config)], reading.found, channel))


def _observe(event: Event, number: int, large: frozenset[int]) -> Observation[State]:
    if event.get("seq") != number:
        raise Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise Malformed(f"{name!r} is not an action that a handle can see")
    params, beside = _SHAPES[name]
    args = event.get("args")
    if not isinstance(args, dict) or set(args) != {*params, *beside}:
        raise Malformed(f"args of {name} must be numbers {sorted({*params, *beside})}, not {args}")
    if any(type(value) is not int or value < 0 for value in args.values()):
        raise Malformed(f"args of {name} must be numbers, not {args}")

    def differs(before: State, after: State) -> str:
        said = {key: args[key] for key in beside}
        seen = _seen(name, args, before, after)
        return "" if seen == said else f"it says {said}, and the model {seen}"

    action = Action(name, tuple((key, args[key]) for key in params))
    written = name == "Put" and args["number"] in large
    return Observation(in_words(event), action, differs, Action("Write", (("p", args["p"]),)) if written else None)


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
