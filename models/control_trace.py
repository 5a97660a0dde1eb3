"""Recorded runs of the control protocol, judged by ``models/control.py``."""

from __future__ import annotations

from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.control import Control, answered
from models.control_state import LOST, Config, State, initial_state
from models.kernel import Action
from models.recorded import Event, Malformed, after_it, differing, in_words, not_opened, read

__all__ = ("accept_channel",)

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


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    ranks, capacity = opening.get("ranks"), opening.get("capacity")
    if opening.get("action") != "Open" or not all(type(size) is int and size >= 1 for size in (ranks, capacity)):
        return not_opened(channel, opening, "ranks and capacity")
    everybody = frozenset(range(opening["ranks"]))
    config = Config(opening["ranks"], None, opening["capacity"], leavers=everybody, mortal=everybody, silent=everybody)
    reading = read(rest, _observe)
    return reading.ended(judge(Control(config), [initial_state(config)], reading.found, channel))


def _observe(event: Event, number: int) -> Observation[State]:
    if event.get("seq") != number:
        raise Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise Malformed(f"{name!r} is not an action that a host can see")
    params, beside, results = _SHAPES[name]
    args = _numbers(event, "args", {*params, *beside})
    result = _numbers(event, "result", set(results))
    post = event.get("post")
    if not isinstance(post, dict) or set(post) != _POST:
        raise Malformed(f"post must have exactly {sorted(_POST)}")

    def differs(before: State, after: State) -> str:
        if name == "Ask" and result["number"] != after.asked:
            return f"it got the number {result['number']}, and the model says {after.asked}"
        if name == "Take" and result["number"] != after.doing[args["rank"]]:
            return f"it took request {result['number']}, and the model says {after.doing[args['rank']]}"
        if name in ("Answer", "RefuseLate") and args["number"] != before.doing[args["rank"]]:
            return f"it answered request {args['number']}, and the model says {before.doing[args['rank']]}"
        shown = _shown(after)
        return after_it(differing(post, shown))

    silent = Action("Crash", (("rank", args["rank"]),)) if name == "Fence" else None
    return Observation(in_words(event), Action(name, tuple((key, args[key]) for key in params)), differs, silent)


def _numbers(event: Event, part: str, wanted: set[str]) -> dict[str, int]:
    found = event.get(part)
    good = isinstance(found, dict) and set(found) == wanted
    if not isinstance(found, dict) or not good or any(type(value) is not int or value < 0 for value in found.values()):
        raise Malformed(f"{part} of {event.get('action')} must be numbers {sorted(wanted)}, not {found}")
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
