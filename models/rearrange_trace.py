"""Recorded runs of rearrangements, judged by ``models/rearrange.py``."""

from __future__ import annotations

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.rearrange import Config, Rearrange, State
from models.rearrange_state import initial_state
from models.recorded import Event, Malformed, check_seq, not_opened, read, same_json, with_result

__all__ = ("accept_channel",)

_NONE = ("Take", "BeginLoad", "DeclareLoaded", "CallOff", "Update", "Free", "EndTimeout")
_RANK = ("TakeLoad", "ReportOk", "ReportFailed", "Arrive", "Withdraw", "Updated")
_ARGS = {
    "Request": "addresses",
    **dict.fromkeys(("Join", "Leave", "Fence"), "party"),
    **dict.fromkeys(("PeerReady", "PeerFailed"), "peer"),
    **dict.fromkeys(_RANK, "rank"),
    **dict.fromkeys(_NONE, ""),
}
_POST = {"phase", "request", "outcome", "unreached", "load", "worker"}


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    ranks = opening.get("ranks")
    if opening.get("action") != "Open" or type(ranks) is not int or ranks < 1:
        return not_opened(channel, opening, "ranks")
    most = max((_unreached(event) for event in rest), default=0)
    peers = frozenset(range(1, most + 1))
    reading = read(rest, lambda event, number: _observe(event, number, peers), with_result)
    everybody = frozenset(range(2 * ranks + 1))
    config = Config(ranks, most, None, everybody, frozenset(range(ranks)), peers)
    return reading.ended(judge(Rearrange(config), [initial_state(config)], reading.found, channel))


def _unreached(event: Event) -> int:
    """How many addresses had not done their part: after a request, all that it names."""
    post = event.get("post")
    unreached = post.get("unreached") if isinstance(post, dict) else None
    return len(unreached) if isinstance(unreached, list) else 0


def _observe(event: Event, number: int, peers: frozenset[int]) -> Observation[State]:
    check_seq(event, number)
    name, args, result, post = (event.get(part) for part in ("action", "args", "result", "post"))
    if name not in _ARGS:
        raise Malformed(f"{name!r} is not an action that a host can see")
    wanted = {_ARGS[name]} - {""}
    if not isinstance(args, dict) or set(args) != wanted or not all(type(value) is int for value in args.values()):
        raise Malformed(f"args of {name} must be numbers for {sorted(wanted)}, not {args}")
    if not isinstance(result, dict) or not isinstance(post, dict) or set(post) != _POST:
        raise Malformed(f"result must be an object, and post must have {sorted(_POST)}")
    params = tuple(args.items())

    def differs(before: State, after: State) -> str:
        expected = _result(name, after)
        if not same_json(result, expected):
            return f"its result was {result}, and the model says {expected}"
        shown = _post(after, peers)
        return "" if same_json(post, shown) else f"after it {post}, and the model says {shown}"

    silent = Action("Crash", params) if name == "Fence" else None
    return Observation(with_result(event), Action(name, params), differs, silent)


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
