"""Recorded runs of a mailbox, judged by ``models/mailbox.py``.

What ZeroMQ knows of clients is not recorded, and what one thread was told of a client, and another one before, reach
the critical section in any order: so here the loss of a batch may come at any time.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.mailbox import Config, Mailbox, State
from models.mailbox_state import ENDS, initial_state

__all__ = ("accept_channel",)

Event = dict[str, Any]
_SHAPES: dict[str, tuple[str, ...]] = {
    "Handle": ("request", "client"),
    "Put": ("request", "last"),
    "Sent": ("request",),
    "Lost": ("request",),
    "Late": ("request",),
    "Expire": ("request",),
    "Close": (),
}
_POST = {"stage", "cached", "flying", "kept"}


class _Malformed(Exception):
    """The event cannot be one of this run."""


class _Follower(Mailbox):
    """The model, in which a client may turn out to be gone at any time."""

    def lost(self, s: State, r: int) -> State | None:
        """The socket knew no such client."""
        return self._end(s, r, "lost") if s.flights[r - 1] else None


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    capacity = opening.get("capacity")
    if opening.get("action") != "Open" or type(capacity) is not int or capacity < 0:
        return Verdict(channel, False, 1, "the first event must be Open, with capacity", json.dumps(opening))
    most = {"request": 0, "client": 0}
    observations: list[Observation[State]] = []
    wrong = ""
    for number, event in enumerate(rest, 1):
        try:
            observations.append(_observe(event, number, most))
        except _Malformed as error:
            wrong = str(error)
            break
    config = Config(
        requests=most["request"],
        clients=most["client"],
        max_items=None,
        capacity=capacity,
        slow=True,
        idle=True,
        closes=True,
    )
    verdict = judge(_Follower(config), [initial_state(config)], observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=_text(rest[number]))
    return verdict


def _observe(event: Event, number: int, most: dict[str, int]) -> Observation[State]:
    if type(event.get("seq")) is not int or event["seq"] != number:
        raise _Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise _Malformed(f"{name!r} is not an action that a server can see")
    args, post = event.get("args"), event.get("post")
    if not isinstance(args, dict) or set(args) != set(_SHAPES[name]):
        raise _Malformed(f"args of {name} must be {list(_SHAPES[name])}, not {args}")
    if not isinstance(post, dict) or set(post) != _POST or post["stage"] not in ("open", *ENDS):
        raise _Malformed(f"post must have exactly {sorted(_POST)}, not {post}")
    if any(type(post[key]) is not int or post[key] < 0 for key in _POST - {"stage"}):
        raise _Malformed(f"post must have numbers, not {post}")
    for key, value in args.items():
        if type(value) is not int or not (0 <= value <= 1 if key == "last" else 1 <= value <= most[key] + 1):
            raise _Malformed(f"{key} cannot be {value!r} here")
        if key != "last":
            most[key] = max(most[key], value)
    params = tuple((key, args[key]) for key in _SHAPES[name])
    action = Action(name, (*params, ("i", 1)) if name == "Sent" else params)

    def differs(before: State, after: State) -> str:
        shown = _shown(after, args.get("request", 0))
        wrong = [
            f"{key} = {post[key]} (the model says {value})"
            for key, value in shown.items()
            if post[key] != value and (key == "kept" or args)
        ]
        return f"after it {', '.join(wrong)}" if wrong else ""

    return Observation(_text(event), action, differs)


def _shown(s: State, request: int) -> Event:
    found: Event = {"kept": sum(map(len, s.cached))}
    if request:
        i = request - 1
        flying = sum(map(len, s.flights[i]))
        found |= {"stage": s.stage[i], "cached": len(s.cached[i]), "flying": flying}
    return found


def _text(event: Event) -> str:
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown}) -> {json.dumps(event.get('post', {}))}"
