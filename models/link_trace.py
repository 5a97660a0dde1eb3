"""Recorded runs of a link, as its host saw them, judged by ``models/link.py``.

What the handle and the network do is not recorded: requests may come at any time, and as they like.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action, Step
from models.link import Config, Link, Request, State
from models.link_state import initial_state, mask

__all__ = ("accept_channel",)

Event = dict[str, Any]
_ARRIVALS = ("Begin", "Repeat", "Stale", "Refuse")
_SHAPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_ARRIVALS, ("number", "open", "top")),
    "Depart": (),
    "Finish": ("number",),
    "Fence": (),
}
_SESSIONS = ("new", "open", "closed", "fenced")


class _Malformed(Exception):
    """The event cannot be one of this run."""


_BYE = Request(0, frozenset(), 0)


class _Follower(Link):
    """The model, in which the request that was recorded comes, whatever is known to be on its way."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.come = _BYE
        steps = {"Begin": self.begin, "Repeat": self.repeat, "Stale": self.stale, "Refuse": self.refuse}
        steps["Depart"] = lambda s, request: self.depart(s, request) if s.session == "open" else None

        def comes(name: str) -> Callable[[State], Iterator[Step[State]]]:
            def take(s: State) -> Iterator[Step[State]]:
                after = steps[name](s, self.come)
                if after is not None:
                    yield _action(name, self.come), after

            return take

        self.actions = {**self.actions, **{name: comes(name) for name in steps}}

    def follow(self, events: list[tuple[Observation[State], Request]]) -> Iterator[Observation[State]]:
        """Yield the events, each with its request on its way."""
        for observation, request in events:
            self.come = request
            yield observation


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    window = opening.get("window")
    if opening.get("action") != "Open" or type(window) is not int or window < 1:
        return Verdict(channel, False, 1, "the first event must be Open, with window", json.dumps(opening))
    observed: list[tuple[Observation[State], Request]] = []
    wrong = ""
    for number, event in enumerate(rest, 1):
        try:
            observed.append(_observe(event, number, window))
        except _Malformed as error:
            wrong = str(error)
            break
    most = max((request.top for _, request in observed), default=1)
    config = Config(calls=max(1, most), window=window, may_fence=True)
    follower = _Follower(config)
    verdict = judge(follower, [initial_state(config)], follower.follow(observed), channel)
    if wrong and verdict.accepted:
        number = len(observed)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=_text(rest[number]))
    return verdict


def _observe(event: Event, number: int, window: int) -> tuple[Observation[State], Request]:
    if type(event.get("seq")) is not int or event["seq"] != number:
        raise _Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise _Malformed(f"{name!r} is not an action that a host can see")
    args, post = event.get("args"), event.get("post")
    if not isinstance(args, dict) or set(args) != set(_SHAPES[name]):
        raise _Malformed(f"args of {name} must be {list(_SHAPES[name])}, not {args}")
    if not isinstance(post, dict) or set(post) != {"session", "top", "known"} or post["session"] not in _SESSIONS:
        raise _Malformed(f"post must have session, top and known, not {post}")
    if type(post["top"]) is not int or not isinstance(post["known"], list):
        raise _Malformed(f"post must have a number and a list, not {post}")
    request = _BYE
    if name in _ARRIVALS:
        request = _request(args, window)
        action = _action(name, request)
    elif name == "Finish":
        if type(args["number"]) is not int or args["number"] < 1:
            raise _Malformed(f"number cannot be {args['number']!r}")
        action = Action(name, (("number", args["number"]),))
    else:
        action = _action(name, _BYE) if name == "Depart" else Action(name)

    def differs(before: State, after: State) -> str:
        known = [[n, state] for n, state in enumerate(after.known, 1) if state != "none"]
        shown = {"session": after.session, "top": after.top, "known": known}
        differ = [(key, value) for key, value in shown.items() if repr(post[key]) != repr(value)]
        wrong = [f"{key} = {post[key]} (the model says {value})" for key, value in differ]
        return f"after it {', '.join(wrong)}" if wrong else ""

    return Observation(_text(event), action, differs), request


def _request(args: Event, window: int) -> Request:
    """Return a request, which must be one that a handle sends."""
    which, calls, top = args["number"], args["open"], args["top"]
    if type(which) is not int or type(top) is not int or not isinstance(calls, list) or not calls:
        raise _Malformed(f"number, open and top cannot be {which!r}, {calls!r}, {top!r}")
    if any(type(n) is not int for n in calls) or sorted(set(calls)) != calls:
        raise _Malformed(f"open must be numbers in their order, not {calls}")
    if which not in calls or calls[0] < 1 or calls[-1] > top or len(calls) > window:
        raise _Malformed(f"no handle sends call {which} of {top} with {calls} open")
    return Request(which, frozenset(calls), top)


def _action(name: str, request: Request) -> Action:
    return Action(name, (("number", request.number), ("open", mask(request.open)), ("top", request.top)))


def _text(event: Event) -> str:
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown}) -> {json.dumps(event.get('post', {}))}"
