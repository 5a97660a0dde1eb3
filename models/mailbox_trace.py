"""Recorded runs of a mailbox, judged by ``models/mailbox.py``.

What ZeroMQ knows of clients is not recorded, and what one thread was told of a client, and another one before, reach
the critical section in any order: so here the loss of a batch may come at any time.
"""

from __future__ import annotations

import json

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.mailbox import Config, Mailbox, State
from models.mailbox_state import ENDS, initial_state
from models.recorded import Event, Malformed, after_it, check_seq, differing, in_words, not_opened, read

__all__ = ("accept_channel",)

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
        return not_opened(channel, opening, "capacity")
    most = {"request": 0, "client": 0}
    reading = read(rest, lambda event, number: _observe(event, number, most), _text)
    config = Config(
        requests=most["request"],
        clients=most["client"],
        max_items=None,
        capacity=capacity,
        slow=True,
        idle=True,
        closes=True,
    )
    return reading.ended(judge(_Follower(config), [initial_state(config)], reading.found, channel))


def _observe(event: Event, number: int, most: dict[str, int]) -> Observation[State]:
    check_seq(event, number)
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise Malformed(f"{name!r} is not an action that a server can see")
    args, post = event.get("args"), event.get("post")
    if not isinstance(args, dict) or set(args) != set(_SHAPES[name]):
        raise Malformed(f"args of {name} must be {list(_SHAPES[name])}, not {args}")
    if not isinstance(post, dict) or set(post) != _POST or post["stage"] not in ("open", *ENDS):
        raise Malformed(f"post must have exactly {sorted(_POST)}, not {post}")
    if any(type(post[key]) is not int or post[key] < 0 for key in _POST - {"stage"}):
        raise Malformed(f"post must have numbers, not {post}")
    for key, value in args.items():
        if type(value) is not int or not (0 <= value <= 1 if key == "last" else 1 <= value <= most[key] + 1):
            raise Malformed(f"{key} cannot be {value!r} here")
        if key != "last":
            most[key] = max(most[key], value)
    params = tuple((key, args[key]) for key in _SHAPES[name])
    action = Action(name, (*params, ("i", 1)) if name == "Sent" else params)

    def differs(before: State, after: State) -> str:
        return after_it(differing(post, _shown(after, args.get("request", 0))))

    return Observation(_text(event), action, differs)


def _shown(s: State, request: int) -> Event:
    found: Event = {"kept": sum(map(len, s.cached))}
    if request:
        i = request - 1
        flying = sum(map(len, s.flights[i]))
        found |= {"stage": s.stage[i], "cached": len(s.cached[i]), "flying": flying}
    return found


def _text(event: Event) -> str:
    return f"{in_words(event)} -> {json.dumps(event.get('post', {}))}"
