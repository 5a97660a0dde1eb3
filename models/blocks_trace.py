"""Recorded runs of block lists and their transfer client, judged by ``models/blocks.py``.

What the port and the ranks do is not recorded: that the port has a task is seen when its number is known, and what has
become of it when its result is handled. So these two events stand for the steps before them, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.acceptance import Observation, Verdict, judge
from models.blocks import Blocks
from models.blocks_state import SERVING, Config, State, in_flight, initial_state
from models.kernel import Action, Step, replaced
from models.recorded import Event, Malformed, after_it, check_seq, not_opened, read, same_json, with_result

__all__ = ("accept_channel",)

# Action -> its parameters in the model, what the event says beside them, and what its result has.
_SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "Allocate": (("kind", "n"), (), ("ids",)),
    "Free": (("block",), (), ()),
    "FreeStale": (("block", "gen"), (), ()),
    "Reserve": (("source", "target"), (), ("task",)),
    "Register": (("task",), (), ()),
    "Refuse": (("task",), (), ("back",)),
    "Handle": (("task",), ("outcome", "late"), ("given",)),
    "Settle": (("task",), (), ()),
    "Cancel": (("task",), (), ()),
    "BeginReset": ((), (), ("told",)),
    "Rebuild": ((), (), ()),
    "Lose": ((), (), ("told",)),
    "Close": ((), (), ("told",)),
}
_POST = {"gen", "phase", "free", "leases", "tasks"}
_CAME = (("ok", False), ("failed", False), ("failed", True), ("cancelled", False))


class _Follower(Blocks):
    """The model, in which two actions take the unseen steps before them along."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.actions = {**self.actions, "Register": self.register, "Settle": self.settle}

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
            for out, late in _CAME:
                came = replaced(s.tasks, number - 1, task._replace(stage="hand", out=out, at=late, late=late))
                yield from super().handle(s._replace(tasks=came, hand=number))

    def settle(self, s: State) -> Iterator[Step[State]]:
        """The last rank has ended, and the receiver is told."""
        for number, task in enumerate(s.tasks, 1):
            if task.stage == "late":
                quiet = s._replace(tasks=replaced(s.tasks, number - 1, task._replace(at=False)))
                after = self._settle(quiet, number)
                if after is not None:
                    yield Action("Settle", (("task", number),)), after


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    sizes = opening.get("device"), opening.get("host")
    if opening.get("action") != "Open" or not all(type(size) is int and size >= 0 for size in sizes):
        return not_opened(channel, opening, "device and host")
    reading = read(rest, _observe, with_result)
    counts = {event["args"]["n"] for event in reading.events if event["action"] == "Allocate"}
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
        overruns=True,
    )
    return reading.ended(judge(_Follower(config), [initial_state(config)], reading.found, channel))


def _observe(event: Event, number: int) -> Observation[State]:
    check_seq(event, number)
    name = str(event.get("action"))
    if name not in _SHAPES:
        raise Malformed(f"{name!r} is not an action that a client can see")
    params, beside, results = _SHAPES[name]
    args, result, post = (event.get(part) for part in ("args", "result", "post"))
    if not isinstance(args, dict) or set(args) != {*params, *beside}:
        raise Malformed(f"args of {name} must be {[*params, *beside]}, not {args}")
    if any(type(args[key]) is not int or args[key] < (-1 if key == "target" else 0) for key in params):
        raise Malformed(f"args of {name} must be numbers, not {args}")
    if not isinstance(result, dict) or set(result) != set(results):
        raise Malformed(f"result of {name} must be {results}, not {result}")
    if not isinstance(post, dict) or set(post) != _POST:
        raise Malformed(f"post must have exactly {sorted(_POST)}")

    def differs(before: State, after: State) -> str:
        expected = _result(name, args, before, after)
        if name == "Handle":
            task = after.tasks[args["task"] - 1]
            if task.out != args["outcome"] or task.late is not args["late"]:
                return f"there is no outcome {args['outcome']!r} with late={args['late']!r}"
        if not same_json(result, expected):
            return f"its result was {result}, and the model says {expected}"
        shown = _shown(after)
        return after_it(
            [f"{k} = {post[k]} (the model says {v})" for k, v in shown.items() if not same_json(post[k], v)]
        )

    return Observation(with_result(event), Action(name, tuple((key, args[key]) for key in params)), differs)


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
