"""Recorded runs of the control protocol, judged by ``models/control.py``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.control import Control, answered
from models.control_state import LOST, Config, State, initial_state
from models.kernel import Action

__all__ = ("accept_channel",)

Event = dict[str, Any]
# Action -> its parameter in the model, what the event says beside it, and what its result has.
_SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "Join": (("rank",), (), ()),
    "Leave": (("rank",), (), ()),
    "Fence": (("rank",), (), ()),
    "Vanish": (("rank",), (), ()),
    "Reappear": (("rank",), (), ()),
    "Ask": ((), ("client",), ("number",)),
    "Take": (("rank",), (), ("number",)),
    "Answer": (("rank",), ("number",), ()),
    "RefuseLate": (("rank",), ("number",), ()),
    "Collect": (("number",), (), ()),
    "EndLost": (("number",), (), ()),
    "EndTimeout": (("number",), (), ()),
    "Withdraw": (("number",), (), ()),
}
_POST = {"asked", "open", "served", "doing", "lost"}


class _Malformed(Exception):
    """The event cannot be one of this run."""


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    ranks, capacity = opening.get("ranks"), opening.get("capacity")
    if opening.get("action") != "Open" or not all(type(size) is int and size >= 1 for size in (ranks, capacity)):
        return Verdict(channel, False, 1, "the first event must be Open, with ranks and capacity", json.dumps(opening))
    everybody = frozenset(range(opening["ranks"]))
    config = Config(opening["ranks"], None, opening["capacity"], leavers=everybody, mortal=everybody, silent=everybody)
    observations: list[Observation[State]] = []
    wrong = ""
    for number, event in enumerate(rest, 1):
        try:
            observations.append(_observe(event, number))
        except _Malformed as error:
            wrong = str(error)
            break
    verdict = judge(Control(config), [initial_state(config)], observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=_text(rest[number]))
    return verdict


def _observe(event: Event, number: int) -> Observation[State]:
    if event.get("seq") != number:
        raise _Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise _Malformed(f"{name!r} is not an action that a host can see")
    params, beside, results = _SHAPES[name]
    args = _numbers(event, "args", {*params, *beside})
    result = _numbers(event, "result", set(results))
    post = event.get("post")
    if not isinstance(post, dict) or set(post) != _POST:
        raise _Malformed(f"post must have exactly {sorted(_POST)}")

    def differs(before: State, after: State) -> str:
        if name == "Ask" and result["number"] != after.asked:
            return f"it got the number {result['number']}, and the model says {after.asked}"
        if name == "Take" and result["number"] != after.doing[args["rank"]]:
            return f"it took request {result['number']}, and the model says {after.doing[args['rank']]}"
        if name in ("Answer", "RefuseLate") and args["number"] != before.doing[args["rank"]]:
            return f"it answered request {args['number']}, and the model says {before.doing[args['rank']]}"
        shown = _shown(after)
        wrong = [f"{key} = {post[key]} (the model says {value})" for key, value in shown.items() if post[key] != value]
        return f"after it {', '.join(wrong)}" if wrong else ""

    silent = Action("Crash", (("rank", args["rank"]),)) if name == "Fence" else None
    return Observation(_text(event), Action(name, tuple((key, args[key]) for key in params)), differs, silent)


def _numbers(event: Event, part: str, wanted: set[str]) -> dict[str, int]:
    found = event.get(part)
    good = isinstance(found, dict) and set(found) == wanted
    if not isinstance(found, dict) or not good or any(type(value) is not int or value < 0 for value in found.values()):
        raise _Malformed(f"{part} of {event.get('action')} must be numbers {sorted(wanted)}, not {found}")
    return found


def _shown(s: State) -> dict[str, Any]:
    return {
        "asked": s.asked,
        "open": [
            [number, sorted(answered(s, number)), sorted(s.without[number - 1])]
            for number, state in enumerate(s.state, 1)
            if state == "open"
        ],
        "served": list(s.served),
        "doing": list(s.doing),
        "lost": [rank for rank, status in enumerate(s.status) if status == LOST],
    }


def _text(event: Event) -> str:
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown})"
