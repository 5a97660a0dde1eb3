"""Recorded runs of a plain queue (transfer results, disaggregated requests), judged by ``models/done.py``.

Takers are numbered by their handles, results by their posting. A take says how many it asked for and what it got.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.done import Config, Done, State, empty
from models.kernel import Action

__all__ = ("accept_channel",)

Event = dict[str, Any]
_ARGS = {"Post": (), "Take": ("taker", "most"), "Gone": ("taker",)}


class _Malformed(Exception):
    """The event cannot be one of this run."""


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    if opening.get("action") != "Open":
        return Verdict(channel, False, 1, "the first event must be Open", json.dumps(opening))
    observations: list[Observation[State]] = []
    wrong, takers = "", 1
    asked: set[int] = set()
    for number, event in enumerate(rest, 1):
        try:
            taker, observation = _observe(event, number)
        except _Malformed as error:
            wrong = str(error)
            break
        takers = max(takers, taker + 1)
        asked.add(event["args"].get("most", 1))
        observations.append(observation)
    model = Done(Config(takers, None, None), asked)
    verdict = judge(model, model.initial(), observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=_text(rest[number]))
    return verdict


def _observe(event: Event, number: int) -> tuple[int, Observation[State]]:
    if event.get("seq") != number:
        raise _Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name, args, result, post = (event.get(key) for key in ("action", "args", "result", "post"))
    if name not in _ARGS:
        raise _Malformed(f"{name!r} is not an action of a queue")
    wanted = _ARGS[name]
    if (
        not isinstance(args, dict)
        or set(args) != set(wanted)
        or any(type(n) is not int or n < 0 for n in args.values())
    ):
        raise _Malformed(f"args of {name} must be integers {wanted}, not {args}")
    if not isinstance(post, dict) or set(post) != {"length", "in_hand", "empty"}:
        raise _Malformed("post must have length, in_hand and empty")

    def differs(before: State, after: State) -> str:
        expected = {"count": len(after.inHand[args["taker"]])} if name == "Take" else {}
        shown = {"length": len(after.results), "in_hand": sum(map(len, after.inHand)), "empty": empty(after)}
        if result != expected:
            return f"its result was {result}, and the model says {expected}"
        return f"after it {post}, and the model says {shown}" if post != shown else ""

    return args.get("taker", 0), Observation(_text(event), _action(name, args), differs)


def _action(name: str, args: Event) -> Action:
    return Action(name, tuple((key, args[key]) for key in _ARGS[name]))


def _text(event: Event) -> str:
    return (
        f"seq {event.get('seq', '-')} {event.get('action')}({event.get('args')}) -> {json.dumps(event.get('result'))}"
    )
