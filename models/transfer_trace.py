"""Recorded runs of the transfer protocol, judged by ``models/transfer.py``. The inside of the ranks is not seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.recorded import Event, Malformed, after_it, differing, in_words, not_opened, read
from models.transfer import Config, State, Transfer
from models.transfer_state import LOST, QUEUED, STARTED, initial_state, numbers

__all__ = ("accept_channel",)

_RANK, _CLIENT, _TASK = ("rank",), ("client",), ("rank", "number")
# Action -> its parameters, and what its result has.
_SHAPES: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(("Join", "Leave", "Fence", "Vanish", "Reappear"), (_RANK, "")),
    **dict.fromkeys(("Accept", "Refuse", "Return", "BackOff"), (_RANK, "")),
    **dict.fromkeys(("Acknowledge", "Gone"), (_CLIENT, "")),
    **dict.fromkeys(("ReportOk", "ReportFailed", "Overdue", "Settle"), (_TASK, "")),
    "Issue": (("client", "kind"), "number"),
    "Withdraw": (_CLIENT, "numbers"),
    "Clear": ((), "numbers"),
    "Abandon": (("number",), ""),
    "HandOut": (_CLIENT, "number"),
    "Settled": (("client", "number"), ""),
    "Start": ((), "number"),
}
_POST = {"issued", "queued", "started", "votes", "results", "lost", "busy", "held"}


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    ranks, capacity = opening.get("ranks"), opening.get("capacity")
    if opening.get("action") != "Open" or not all(type(size) is int and size >= 1 for size in (ranks, capacity)):
        return not_opened(channel, opening, "ranks and capacity")
    config = _config(opening["ranks"], opening["capacity"], rest)
    reading = read(rest, _observe)
    return reading.ended(judge(Transfer(config), [initial_state(config)], reading.found, channel))


def _config(ranks: int, capacity: int, events: Iterable[Event]) -> Config:
    """Everybody may do everything; there are as many clients and kinds as the run names."""
    most = {"client": 1, "kind": 1}
    for event in events:
        args = event.get("args")
        for key in most:
            value = args.get(key) if isinstance(args, dict) else None
            if type(value) is int:
                most[key] = max(most[key], value)
    everybody, clients = frozenset(range(ranks)), frozenset(range(1, most["client"] + 1))
    return Config(
        ranks,
        most["client"],
        most["kind"],
        None,
        capacity,
        leavers=everybody,
        mortal=everybody,
        silent=everybody,
        failing=everybody,
        slow=everybody,
        frail=clients,
        impatient=clients,
        hasty=True,
        inside=False,
    )


def _observe(event: Event, number: int) -> Observation[State]:
    if event.get("seq") != number:
        raise Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise Malformed(f"{name!r} is not an action that a host can see")
    params, answer = _SHAPES[name]
    args = _parts(event, "args", set(params))
    if any(type(value) is not int or value < 0 for value in args.values()):
        raise Malformed(f"args of {name} must be numbers, not {args}")
    result = _parts(event, "result", {answer} - {""})
    post = _parts(event, "post", _POST)

    def differs(before: State, after: State) -> str:
        wanted = _answer(name, args, before, after)
        if answer and result[answer] != wanted:
            return f"its result is {result[answer]}, and the model says {wanted}"
        shown = _shown(after)
        return after_it(differing(post, shown))

    silent = Action("Crash", (("rank", args["rank"]),)) if name == "Fence" else None
    return Observation(in_words(event), Action(name, tuple((key, args[key]) for key in params)), differs, silent)


def _answer(name: str, args: Event, before: State, after: State) -> object:
    if name == "Issue":
        return len(after.state)
    if name == "HandOut":
        return after.hand[args["client"] - 1]
    moved = [number for number in numbers(before, QUEUED) if after.state[number - 1] != QUEUED]
    return moved[0] if name == "Start" else moved


def _parts(event: Event, part: str, wanted: set[str]) -> Event:
    found = event.get(part)
    if not isinstance(found, dict) or set(found) != wanted:
        raise Malformed(f"{part} of {event.get('action')} must have exactly {sorted(wanted)}, not {found}")
    return found


def _shown(s: State) -> dict[str, Any]:
    said = {
        number: [[r.rank for r in sorted(s.reports[number - 1]) if r.ok is ok] for ok in (True, False)]
        for number in numbers(s, STARTED)
    }
    return {
        "issued": len(s.state),
        "queued": numbers(s, QUEUED),
        "started": [[number, *reports, sorted(s.without[number - 1])] for number, reports in said.items()],
        "votes": list(s.vote),
        "results": [
            [client, [[number, s.state[number - 1]] for number in s.results[client - 1]]]
            for client in sorted(set(s.owner) - s.gone)
        ],
        "lost": [rank for rank, status in enumerate(s.status) if status == LOST],
        "busy": [[number, sorted(busy)] for number, busy in enumerate(s.busy, 1) if busy],
        "held": [[client, sorted(s.held[client - 1])] for client in sorted(set(s.owner) - s.gone)],
    }
