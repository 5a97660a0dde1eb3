"""Recorded runs of block lists and their transfer client, judged by ``models/blocks.py``.

What the port and the ranks do is not recorded: that the port has a task is seen when its number is known, and what has
become of it when its result is handled. So these two events stand for the steps before them, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.blocks import Blocks
from models.blocks_state import SERVING, Config, State, in_flight, initial_state
from models.kernel import Action, Step, replaced

__all__ = ("accept_channel",)

Event = dict[str, Any]
# Action -> its parameters in the model, what the event says beside them, and what its result has.
_SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "Allocate": (("kind", "n"), (), ("ids",)),
    "Free": (("block",), (), ()),
    "FreeStale": (("block", "gen"), (), ()),
    "Reserve": (("source", "target"), (), ("task",)),
    "Register": (("task",), (), ()),
    "Refuse": (("task",), (), ("back",)),
    "Handle": (("task",), ("outcome",), ("given",)),
    "Cancel": (("task",), (), ()),
    "BeginReset": ((), (), ("told",)),
    "Rebuild": ((), (), ()),
    "Lose": ((), (), ("told",)),
    "Close": ((), (), ("told",)),
}
_POST = {"gen", "phase", "free", "leases", "tasks"}
_OUTCOMES = ("ok", "failed", "cancelled")


class _Malformed(Exception):
    """The event cannot be one of this run."""


class _Follower(Blocks):
    """The model, in which two actions take the unseen steps before them along."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.actions = {**self.actions, "Register": self.register}

    def register(self, s: State) -> Iterator[Step[State]]:
        """The port has taken the task."""
        for number, task in enumerate(s.tasks, 1):
            if task.stage == "issuing":
                queued = task._replace(stage="queued", known=True)
                label = Action("Register", (("task", number),))
                yield label, s._replace(tasks=replaced(s.tasks, number - 1, queued))

    def handle(self, s: State) -> Iterator[Step[State]]:
        """A result has come, whichever."""
        for number, task in enumerate(s.tasks, 1) if s.phase in SERVING else ():
            if task.stage != "queued":
                continue
            for out in _OUTCOMES:
                came = replaced(s.tasks, number - 1, task._replace(stage="hand", out=out))
                yield from super().handle(s._replace(tasks=came, hand=number))


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    sizes = opening.get("device"), opening.get("host")
    if opening.get("action") != "Open" or not all(type(size) is int and size >= 0 for size in sizes):
        return Verdict(channel, False, 1, "the first event must be Open, with device and host", json.dumps(opening))
    observations: list[Observation[State]] = []
    counts: set[int] = set()
    wrong = ""
    for number, event in enumerate(rest, 1):
        try:
            observations.append(_observe(event, number))
        except _Malformed as error:
            wrong = str(error)
            break
        if event["action"] == "Allocate":
            counts.add(event["args"]["n"])
    config = Config(
        device=opening["device"],
        host=opening["host"],
        sizes=frozenset(counts - {0}),
        in_place=True,
        max_tasks=None,
        max_gen=None,
        refuses=True,
        cancels=True,
        mortal=True,
        closes=True,
    )
    verdict = judge(_Follower(config), [initial_state(config)], observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=_text(rest[number]))
    return verdict


def _observe(event: Event, number: int) -> Observation[State]:
    if type(event.get("seq")) is not int or event["seq"] != number:
        raise _Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise _Malformed(f"{name!r} is not an action that a client can see")
    params, beside, results = _SHAPES[name]
    args, result, post = (event.get(part) for part in ("args", "result", "post"))
    if not isinstance(args, dict) or set(args) != {*params, *beside}:
        raise _Malformed(f"args of {name} must be {[*params, *beside]}, not {args}")
    if any(type(args[key]) is not int or args[key] < (-1 if key == "target" else 0) for key in params):
        raise _Malformed(f"args of {name} must be numbers, not {args}")
    if not isinstance(result, dict) or set(result) != set(results):
        raise _Malformed(f"result of {name} must be {results}, not {result}")
    if not isinstance(post, dict) or set(post) != _POST:
        raise _Malformed(f"post must have exactly {sorted(_POST)}")

    def differs(before: State, after: State) -> str:
        expected = _result(name, args, before, after)
        if name == "Handle" and after.tasks[args["task"] - 1].out != args["outcome"]:
            return f"there is no outcome {args['outcome']!r}"
        if not _same(result, expected):
            return f"its result was {result}, and the model says {expected}"
        shown = _shown(after)
        wrong = [f"{k} = {post[k]} (the model says {v})" for k, v in shown.items() if not _same(post[k], v)]
        return f"after it {', '.join(wrong)}" if wrong else ""

    return Observation(_text(event), Action(name, tuple((key, args[key]) for key in params)), differs)


def _same(found: Any, expected: Any) -> bool:
    """Equal as JSON: to Python True is 1, and 1.0 is too."""
    return json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _result(name: str, args: Event, before: State, after: State) -> Event:
    new = [sorted(lease.ids) for lease in after.leases - before.leases]
    if name == "Allocate":
        return {"ids": new[0]}
    if name == "Reserve":
        return {"task": len(after.tasks)}
    if name == "Refuse":
        return {"back": not before.tasks[args["task"] - 1].told}
    if name == "Handle":
        return {"given": new[0][0] if new else -1}
    if name in ("BeginReset", "Lose", "Close"):
        pairs = enumerate(zip(before.tasks, after.tasks, strict=True), 1)
        return {"told": [number for number, (was, now) in pairs if was.told != now.told]}
    return {}


def _shown(s: State) -> Event:
    return {
        "gen": s.gen,
        "phase": s.phase,
        "free": sorted(s.free),
        "leases": sorted(sorted(lease.ids) for lease in s.leases if lease.gen == s.gen),
        "tasks": [number for number, task in enumerate(s.tasks, 1) if in_flight(task)],
    }


def _text(event: Event) -> str:
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown}) -> {json.dumps(event.get('result', {}))}"
