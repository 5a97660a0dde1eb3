"""Recorded runs of gates, judged by ``models/gate.py``. Keys are numbered in the order in which they come."""

from __future__ import annotations

import json
from dataclasses import replace

from models.acceptance import Observation, Verdict, judge
from models.gate import Config, Gate, State
from models.gate_state import initial_state
from models.kernel import Action
from models.recorded import Event, Malformed, check_seq, not_opened, read, with_result

__all__ = ("accept_channel",)

_ARGS = {
    **dict.fromkeys(("Join", "Leave", "Fence", "Vanish", "Reappear"), ("rank",)),
    **dict.fromkeys(("PutAnswer", "RefuseLate"), ("rank", "key")),
    **dict.fromkeys(("Collect", "EndLost", "EndTimeout"), ()),
}


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    shape = [opening.get(name) for name in ("ranks", "capacity", "max_late")]
    if opening.get("action") != "Open" or not all(type(value) is int and value >= 1 for value in shape):
        return not_opened(channel, opening, "ranks, capacity and max_late")
    ranks, capacity, max_late = (opening[name] for name in ("ranks", "capacity", "max_late"))
    keys: dict[str, int] = {}
    reading = read(rest, lambda event, number: _observe(event, number, keys), with_result)
    everybody = frozenset(range(ranks))
    free = Config(ranks, max(1, len(keys)), capacity, max_late, max_issues=None)
    config = replace(free, leavers=everybody, mortal=everybody, silent=everybody)
    return reading.ended(judge(Gate(config), [initial_state(config)], reading.found, channel))


def _observe(event: Event, number: int, keys: dict[str, int]) -> Observation[State]:
    check_seq(event, number)
    name, args, result, post = (event.get(part) for part in ("action", "args", "result", "post"))
    if name not in _ARGS:
        raise Malformed(f"{name!r} is not an action that a host can see")
    if not isinstance(args, dict) or set(args) != set(_ARGS[name]) or type(args.get("rank", 0)) is not int:
        raise Malformed(f"args of {name} must be {_ARGS[name]}, not {args}")
    if not isinstance(result, dict) or not isinstance(post, dict) or set(post) != {"rounds", "late"}:
        raise Malformed("result must be an object, and post must have rounds and late")
    if "key" in args:
        keys.setdefault(json.dumps(args["key"]), len(keys) + 1)
    # Keys have one number for the whole run, so what was recorded can be compared after all have theirs.
    params = tuple((part, args[part] if part == "rank" else keys[json.dumps(args[part])]) for part in _ARGS[name])
    names = keys

    def differs(before: State, after: State) -> str:
        texts = {value: json.loads(text) for text, value in names.items()}
        expected = _result(name, params, before, after, texts)
        if result != expected:
            return f"its result was {result}, and the model says {expected}"
        shown = {
            "rounds": [[texts[r.key], sorted(r.answered), sorted(r.without)] for r in after.rounds],
            "late": [len(owed) for owed in after.late],
        }
        return "" if post == shown else f"after it {post}, and the model says {shown}"

    silent = Action("Crash", params) if name == "Fence" else None
    return Observation(with_result(event), Action(name, params), differs, silent)


def _result(
    name: str, params: tuple[tuple[str, int], ...], before: State, after: State, texts: dict[int, object]
) -> Event:
    ranks = range(len(before.status))
    if name == "PutAnswer":
        return {"all_put": any(r.key == params[1][1] and len(r.answered) == len(ranks) for r in after.rounds)}
    if name not in ("Collect", "EndLost", "EndTimeout"):
        return {}
    kept = {r.key for r in after.rounds}
    (gone,) = (r for r in before.rounds if r.key not in kept)
    if name == "Collect":
        return {"key": texts[gone.key]}
    return {"key": texts[gone.key], "missing": [rank for rank in ranks if rank not in gone.answered]}
