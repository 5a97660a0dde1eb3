"""Recorded runs of a plain queue (transfer results, disaggregated requests), judged by ``models/done.py``.

Takers are numbered by their handles, results by their posting. A take says how many it asked for and what it got.
"""

from __future__ import annotations

import json

from models.acceptance import Observation, Verdict, judge
from models.done import Config, Done, State, empty
from models.kernel import Action
from models.recorded import Event, Malformed, read

__all__ = ("accept_channel",)

_ARGS = {"Post": (), "Take": ("taker", "most"), "Gone": ("taker",)}


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    if opening.get("action") != "Open":
        return Verdict(channel, False, 1, "the first event must be Open", json.dumps(opening))
    reading = read(rest, _observe, _text)
    takers = 1 + max((event["args"].get("taker", 0) for event in reading.events), default=0)
    asked = {event["args"].get("most", 1) for event in reading.events}
    model = Done(Config(takers, None, None), asked)
    return reading.ended(judge(model, model.initial(), reading.found, channel))


def _observe(event: Event, number: int) -> Observation[State]:
    if event.get("seq") != number:
        raise Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name, args, result, post = (event.get(key) for key in ("action", "args", "result", "post"))
    if name not in _ARGS:
        raise Malformed(f"{name!r} is not an action of a queue")
    wanted = _ARGS[name]
    if (
        not isinstance(args, dict)
        or set(args) != set(wanted)
        or any(type(n) is not int or n < 0 for n in args.values())
    ):
        raise Malformed(f"args of {name} must be integers {wanted}, not {args}")
    if not isinstance(post, dict) or set(post) != {"length", "in_hand", "empty"}:
        raise Malformed("post must have length, in_hand and empty")

    def differs(before: State, after: State) -> str:
        expected = {"count": len(after.inHand[args["taker"]])} if name == "Take" else {}
        shown = {"length": len(after.results), "in_hand": sum(map(len, after.inHand)), "empty": empty(after)}
        if result != expected:
            return f"its result was {result}, and the model says {expected}"
        return f"after it {post}, and the model says {shown}" if post != shown else ""

    return Observation(_text(event), _action(name, args), differs)


def _action(name: str, args: Event) -> Action:
    return Action(name, tuple((key, args[key]) for key in _ARGS[name]))


def _text(event: Event) -> str:
    return (
        f"seq {event.get('seq', '-')} {event.get('action')}({event.get('args')}) -> {json.dumps(event.get('result'))}"
    )
