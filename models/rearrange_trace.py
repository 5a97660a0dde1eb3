"""Recorded runs of rearrangements, judged by ``models/rearrange.py``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.rearrange import Config, Rearrange, State
from models.rearrange_state import initial_state

__all__ = ("accept_channel",)

Event = dict[str, Any]
_NONE = ("Take", "BeginLoad", "DeclareLoaded", "CallOff", "Update", "Free", "EndTimeout")
_RANK = ("TakeLoad", "ReportOk", "ReportFailed", "Arrive", "Withdraw", "Updated")
_ARGS = {
    "Request": "addresses",
    **dict.fromkeys(("Join", "Leave", "Fence"), "party"),
    **dict.fromkeys(("PeerReady", "PeerFailed"), "peer"),
    **dict.fromkeys(_RANK, "rank"),
    **dict.fromkeys(_NONE, ""),
}
_MOST = 4096  # addresses of one request
_POST = {"phase", "request", "outcome", "unreached", "load", "worker"}


class _Malformed(Exception):
    """The event cannot be one of this run."""


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    ranks = opening.get("ranks")
    if opening.get("action") != "Open" or type(ranks) is not int or ranks < 1:
        return Verdict(channel, False, 1, "the first event must be Open, with ranks", json.dumps(opening))
    named = [event["args"].get("addresses") for event in rest if isinstance(event.get("args"), dict)]
    most = max((count for count in named if type(count) is int and 0 <= count <= _MOST), default=0)
    peers = frozenset(range(1, most + 1))
    observations: list[Observation[State]] = []
    wrong = ""
    for number, event in enumerate(rest, 1):
        try:
            observations.append(_observe(event, number, peers))
        except _Malformed as error:
            wrong = str(error)
            break
    everybody = frozenset(range(2 * ranks + 1))
    config = Config(ranks, most, None, everybody, frozenset(range(ranks)), peers)
    verdict = judge(Rearrange(config), [initial_state(config)], observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=_text(rest[number]))
    return verdict


def _observe(event: Event, number: int, peers: frozenset[int]) -> Observation[State]:
    if type(event.get("seq")) is not int or event["seq"] != number:
        raise _Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name, args, result, post = (event.get(part) for part in ("action", "args", "result", "post"))
    if name not in _ARGS:
        raise _Malformed(f"{name!r} is not an action that a host can see")
    wanted = {_ARGS[name]} - {""}
    if not isinstance(args, dict) or set(args) != wanted or not all(type(value) is int for value in args.values()):
        raise _Malformed(f"args of {name} must be numbers for {sorted(wanted)}, not {args}")
    if not isinstance(result, dict) or not isinstance(post, dict) or set(post) != _POST:
        raise _Malformed(f"result must be an object, and post must have {sorted(_POST)}")
    params = tuple(args.items())

    def differs(before: State, after: State) -> str:
        expected = _result(name, after)
        if result != expected:
            return f"its result was {result}, and the model says {expected}"
        shown = _post(after, peers)
        return "" if post == shown else f"after it {post}, and the model says {shown}"

    silent = Action("Crash", params) if name == "Fence" else None
    return Observation(_text(event), Action(name, params), differs, silent)


def _result(name: str, after: State) -> Event:
    if name in ("Request", "Take", "TakeLoad"):
        return {"request": after.running}
    return {"begun": any(after.swap)} if name == "Arrive" else {}


def _post(s: State, peers: frozenset[int]) -> Event:
    over = s.phase in ("FREE", "DONE")
    return {
        "phase": s.phase,
        "request": s.running,
        "outcome": s.outcome[-1] if s.outcome else "",
        "unreached": [] if over else sorted(peers - s.reached),
        "load": list(s.load),
        "worker": list(s.worker),
    }


def _text(event: Event) -> str:
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown}) -> {json.dumps(event.get('result', {}))}"
