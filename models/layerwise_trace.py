"""Recorded runs of layer-wise senders, judged by ``models/layerwise.py``. One channel is the run of one rank.

Tasks have no numbers in a run: they are the (slot, step) that it mentions. They are numbered as the contract wants
it: those whose infos came in that order, and before an info those that its slot was at earlier. So infos of one slot
come in the order of their steps, and all steps of a slot that a run mentions are less than half of the modulus apart:
else serial numbers do not order them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action, Step
from models.layerwise import Config, Layerwise, State
from models.layerwise_state import initial_state
from models.recorded import Event, Malformed, check_seq, read, same_json, with_result

__all__ = ("accept_channel", "numbered")

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


@dataclass(frozen=True)
class _Recorded(Config):
    """Constants of a recorded run: ``where`` says in which slot and step each task is."""

    where: tuple[Where, ...] = ()

    def __post_init__(self) -> None:
        """The steps are the run's own: `_Steps` has looked at them."""

    def step(self, task: int) -> int:
        return self.where[task - 1][1]

    def slot(self, task: int) -> int:
        return self.where[task - 1][0]


class _Steps:
    """The steps of one slot, as numbers that do not wrap."""

    def __init__(self, modulus: int) -> None:
        self.modulus = modulus
        self.low = self.high = self.info = -1

    def see(self, step: int) -> int:
        """Return the number of a step. Malformed when it is too far from those before."""
        if self.low < 0:
            self.low = self.high = self.modulus + step
        after = self.low + (step - self.low) % self.modulus
        for number in (after, after - self.modulus):
            low, high = min(number, self.low), max(number, self.high)
            if 2 * (high - low) < self.modulus:
                self.low, self.high = low, high
                return number
        raise Malformed(f"step {step} is half of all steps away from others of its slot")

    def see_info(self, step: int) -> None:
        """The same for the step of an info, which must be later than the last."""
        number = self.see(step)
        if self.info >= 0 and number <= self.info:
            raise Malformed(f"the info of step {step} comes after that of a later step, or again")
        self.info = number


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
    steps: dict[int, _Steps] = {}

    def check(event: Event, number: int) -> None:
        _check(event, number, slots, layers, modulus)
        _see(event, steps, modulus)

    reading = read(rest, check, with_result)
    config = _config(reading.events, slots, layers, capacity, modulus)
    model = _Follower(config)
    return reading.ended(judge(model, [initial_state(config)], _observations(reading.events, model), channel))


def _check(event: Event, number: int, slots: int, layers: int, modulus: int) -> None:
    check_seq(event, number)
    name, args, result = (event.get(part) for part in ("action", "args", "result"))
    if name not in _ARGS:
        raise Malformed(f"{name!r} is not an action")
    if not isinstance(args, dict) or set(args) != set(_ARGS[name]) or not isinstance(result, dict):
        raise Malformed(f"args of {name} must be {_ARGS[name]}, not {args}, and result an object")
    limits = {"slot": slots, "step": modulus, "layer": layers}
    if any(type(value) is not int or not 0 <= value < limits[key] for key, value in args.items()):
        raise Malformed(f"{args} is out of range")


def _see(event: Event, steps: dict[int, _Steps], modulus: int) -> None:
    args = event["args"]
    if "step" in args:
        of_slot = steps.setdefault(args["slot"], _Steps(modulus))
        (of_slot.see_info if event["action"] == "OnCacheInfo" else of_slot.see)(args["step"])


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
            yield Observation(with_result(event), None, _says(config, "again", result))
            continue
        if name == "OnEnd":
            ended.add(task)
        yield Observation(with_result(event), Action(name, params), _says(config, name, result, task))


def _says(config: _Recorded, name: str, result: Event, task: int = 0) -> Any:
    def differs(before: State, after: State) -> str:
        expected = _result(config, name, before, after, task)
        return "" if same_json(result, expected) else f"its result was {result}, and the model says {expected}"

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
        pairs = zip(before.early[0], after.early[0], strict=True)
        return next({"step": kept[0]} for kept, then in pairs if kept and kept != then)
    return {}
