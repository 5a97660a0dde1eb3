"""Recorded runs of layer-wise senders, judged by ``models/layerwise.py``. One channel is the run of one rank.

Tasks have no numbers in a run: they are the (slot, step) that it mentions. They are numbered as the contract wants
it: those whose infos came in that order, and before an info those that its slot was at earlier.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action, Step
from models.layerwise import Config, Layerwise, State
from models.layerwise_state import initial_state

__all__ = ("accept_channel", "numbered")

Event = dict[str, Any]
Where: TypeAlias = tuple[int, int]

_ARGS = {
    "OnProgress": ("slot", "step", "layer"),
    "OnCacheInfo": ("slot", "step"),
    "NextReady": (),
    "OnEnd": ("slot", "step"),
    "ExpireTask": ("slot", "step"),
    "ExpireEarly": ("slot",),
    "NextDone": (),
}
_SHAPE = ("slots", "layers", "capacity", "modulus")


class _Malformed(Exception):
    """The event cannot be one of this run."""


@dataclass(frozen=True)
class _Recorded(Config):
    """Constants of a recorded run: ``where`` says in which slot and step each task is."""

    where: tuple[Where, ...] = ()

    def step(self, task: int) -> int:
        return self.where[task - 1][1]

    def slot(self, task: int) -> int:
        return self.where[task - 1][0]


class _Follower(Layerwise):
    """The model, which tries only the report that was recorded: any may come at any time."""

    wanted: Where | None = None

    def on_progress(self, s: State) -> Iterator[Step[State]]:
        """The report that was recorded."""
        if self.wanted is not None:
            task, layer = self.wanted
            label = Action("OnProgress", (("rank", 0), ("task", task), ("layer", layer)))
            yield label, self._progress(s, 0, task, layer)


def numbered(infos: Iterable[Where], others: Iterable[Where], modulus: int) -> list[Where]:
    """Return all tasks in the order in which the model numbers them."""
    tasks = list(infos)
    for slot, step in others:
        later = (
            number
            for number, (other, at) in enumerate(tasks)
            if other == slot and 0 < 2 * ((at - step) % modulus) < modulus
        )
        tasks.insert(next(later, len(tasks)), (slot, step))
    return tasks


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    shape = [opening.get(name) for name in _SHAPE]
    if opening.get("action") != "Open" or not all(type(value) is int and value >= 1 for value in shape):
        reason = f"the first event must be Open, with {', '.join(_SHAPE)}"
        return Verdict(channel, False, 1, reason, json.dumps(opening))
    slots, layers, capacity, modulus = (int(opening[name]) for name in _SHAPE)
    wrong = ""
    for number, event in enumerate(rest, 1):
        try:
            _check(event, number, slots, layers, modulus)
        except _Malformed as error:
            wrong, rest = str(error), rest[: number - 1]
            break
    config = _config(rest, slots, layers, capacity, modulus)
    model = _Follower(config)
    verdict = judge(model, [initial_state(config)], _observations(rest, model), channel)
    if wrong and verdict.accepted:
        number = len(rest) + 1
        return replace(verdict, accepted=False, events=number, reason=wrong, event=_text(events[number]))
    return verdict


def _check(event: Event, number: int, slots: int, layers: int, modulus: int) -> None:
    if type(event.get("seq")) is not int or event["seq"] != number:
        raise _Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")
    name, args, result = (event.get(part) for part in ("action", "args", "result"))
    if name not in _ARGS:
        raise _Malformed(f"{name!r} is not an action")
    if not isinstance(args, dict) or set(args) != set(_ARGS[name]) or not isinstance(result, dict):
        raise _Malformed(f"args of {name} must be {_ARGS[name]}, not {args}, and result an object")
    limits = {"slot": slots, "step": modulus, "layer": layers}
    if any(type(value) is not int or not 0 <= value < limits[key] for key, value in args.items()):
        raise _Malformed(f"{args} is out of range")


def _config(events: list[Event], slots: int, layers: int, capacity: int, modulus: int) -> _Recorded:
    infos: dict[Where, None] = {}
    mentioned: dict[Where, None] = {}
    for event in events:
        args = event["args"]
        if "step" in args:
            where = args["slot"], args["step"]
            mentioned[where] = None
            if event["action"] == "OnCacheInfo":
                infos[where] = None
    tasks = numbered(infos, (where for where in mentioned if where not in infos), modulus)
    lost = frozenset(number for number, where in enumerate(tasks, 1) if where not in infos)
    everything = frozenset(range(1, len(tasks) + 1))
    size = max(1, len(tasks))
    return _Recorded(
        1, size, slots, layers, capacity, modulus, 0, lost, everything, expiry=True, where=tuple(tasks) or ((0, 0),)
    )


def _observations(events: list[Event], model: _Follower) -> Iterator[Observation[State]]:
    config = model.config
    assert isinstance(config, _Recorded)
    number_of = {where: number for number, where in enumerate(config.where, 1)}
    ended: set[int] = set()
    for event in events:
        name, args, result = event["action"], event["args"], event["result"]
        task = number_of.get((args["slot"], args["step"]), 0) if "step" in args else 0
        params: tuple[tuple[str, int], ...] = (("rank", 0),)
        if name in ("OnProgress", "OnEnd", "ExpireTask"):
            params = (*params, ("task", task))
        if name == "OnProgress":
            params = (*params, ("layer", args["layer"]))
            model.wanted = task, args["layer"]
        elif name == "ExpireEarly":
            params = (*params, ("slot", args["slot"]))
        if name == "OnEnd" and task in ended:
            # A task that was ended before: nothing happens, and the model does not have that.
            yield Observation(_text(event), None, _says(config, "again", result))
            continue
        if name == "OnEnd":
            ended.add(task)
        yield Observation(_text(event), Action(name, params), _says(config, name, result, task))


def _says(config: _Recorded, name: str, result: Event, task: int = 0) -> Any:
    def differs(before: State, after: State) -> str:
        expected = _result(config, name, before, after, task)
        return "" if result == expected else f"its result was {result}, and the model says {expected}"

    return differs


def _result(config: _Recorded, name: str, before: State, after: State, task: int) -> Event:
    if name == "OnCacheInfo":
        new = after.tasks[0][-1]
        if new.task != task:
            return {"the info of another task was next": config.where[new.task - 1]}
        return {"ready": new.ready, "failed": new.failed}
    if name == "NextReady":
        was, now = next((a, b) for a, b in zip(before.tasks[0], after.tasks[0], strict=True) if a != b)
        slot, step = config.where[now.task - 1]
        return {"slot": slot, "step": step, "first": was.sent, "last": now.sent - 1}
    if name == "NextDone":
        done = after.done[0][-1]
        slot, step = config.where[done.task - 1]
        return {"slot": slot, "step": step, "sent": done.sent, "failed": done.failed}
    if name == "OnEnd":
        return {"ended": before.tasks != after.tasks or before.gone != after.gone}
    if name == "again":
        return {"ended": False}
    if name == "ExpireEarly":
        gone = next(a for a, b in zip(before.early[0], after.early[0], strict=True) if a != b)
        return {"step": gone[0]}
    return {}


def _text(event: Event) -> str:
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown}) -> {json.dumps(event.get('result', {}))}"
