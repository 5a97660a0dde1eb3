"""Recorded runs of ``Word.add`` and ``compare_and_set``, judged by ``models/word_counter.py``.

Who has the lock notes what it does before it gives it back, so the records have an order.
"""

from __future__ import annotations

import json
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.recorded import Event, Malformed, not_opened, read
from models.recorded_steps import LINE
from models.word_counter import Config, Counter, State

__all__ = ("accept_channel",)

_FIELDS = {
    **dict.fromkeys(("LoadOld", "StoreSum", "StoreIf"), ("process", "value")),
    **dict.fromkeys(("Lock", "Unlock"), ("process",)),
    "End": ("value",),
}


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one run: Open, what the processes noted, and at last the value when all had ended."""
    opening, *rest = events
    bounds: list[Any] = [opening.get(name) for name in ("adders", "comparers", "adds", "victim")]
    usable = opening.get("action") == "Open" and all(type(value) is int and value >= 0 for value in bounds)
    adders, comparers, adds, victim = bounds
    if not usable or min(adders, adds) < 1 or victim >= adders + comparers:
        return not_opened(channel, opening, "adders, comparers, adds and victim")
    model = Counter(Config(adders, comparers, adds, frozenset({victim})))
    reading = read(rest, lambda event, _: _observe(event, opening, adders + comparers, victim), json.dumps)
    return reading.ended(judge(model, model.initial(), reading.found, channel))


def _observe(event: Event, opening: Event, processes: int, victim: int) -> Observation[State]:
    name = event["action"]
    if name not in _FIELDS:
        raise Malformed(f"{name!r} is not an action that a process notes")
    wanted = {"action", *LINE, *_FIELDS[name]}
    if set(event) != wanted or any(event[key] != opening.get(key) for key in LINE):
        raise Malformed(f"{name} has exactly {sorted(wanted)}, and v, protocol and dp are those of Open")
    if any(type(event[key]) is not int or event[key] < 0 for key in _FIELDS[name]):
        raise Malformed("process and value must be numbers from 0")
    process, value = event.get("process", 0), event.get("value")
    if process >= processes:
        raise Malformed(f"there is no process {process}")

    def differs(before: State, after: State) -> str:
        del before
        known = after.old[process] if name == "LoadOld" else after.value
        return "" if value in (None, known) else f"the value was {value}, and the model says {known}"

    action = None if name == "End" else Action(name, (("process", process),))
    return Observation(json.dumps(event), action, differs, Action("Kill", (("process", victim),)))
