"""Recorded runs of ``Word.add`` and ``compare_and_set``, judged by ``models/word_counter.py``.

Who has the lock notes what it does before it gives it back, so the records have an order.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.word_counter import Config, Counter, State

__all__ = ("accept_channel",)

Event = dict[str, Any]
_LINE = ("v", "protocol", "dp")
_FIELDS = {
    **dict.fromkeys(("LoadOld", "StoreSum", "StoreIf"), ("process", "value")),
    **dict.fromkeys(("Lock", "Unlock"), ("process",)),
    "End": ("value",),
}


class _Malformed(Exception):
    """The event cannot be one of this run."""


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one run: Open, what the processes noted, and at last the value when all had ended."""
    opening, *rest = events
    bounds: list[Any] = [opening.get(name) for name in ("adders", "comparers", "adds", "victim")]
    usable = opening.get("action") == "Open" and all(type(value) is int and value >= 0 for value in bounds)
    adders, comparers, adds, victim = bounds
    if not usable or min(adders, adds) < 1 or victim >= adders + comparers:
        reason = "the first event must be Open, with adders, comparers, adds and victim"
        return Verdict(channel, False, 1, reason, json.dumps(opening))
    model = Counter(Config(adders, comparers, adds, frozenset({victim})))
    observations: list[Observation[State]] = []
    wrong = ""
    for event in rest:
        try:
            observations.append(_observe(event, opening, adders + comparers, victim))
        except _Malformed as error:
            wrong = str(error)
            break
    verdict = judge(model, model.initial(), observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=json.dumps(rest[number]))
    return verdict


def _observe(event: Event, opening: Event, processes: int, victim: int) -> Observation[State]:
    name = event["action"]
    if name not in _FIELDS:
        raise _Malformed(f"{name!r} is not an action that a process notes")
    wanted = {"action", *_LINE, *_FIELDS[name]}
    if set(event) != wanted or any(event[key] != opening.get(key) for key in _LINE):
        raise _Malformed(f"{name} has exactly {sorted(wanted)}, and v, protocol and dp are those of Open")
    if any(type(event[key]) is not int or event[key] < 0 for key in _FIELDS[name]):
        raise _Malformed("process and value must be numbers from 0")
    process, value = event.get("process", 0), event.get("value")
    if process >= processes:
        raise _Malformed(f"there is no process {process}")

    def differs(before: State, after: State) -> str:
        del before
        known = after.old[process] if name == "LoadOld" else after.value
        return "" if value in (None, known) else f"the value was {value}, and the model says {known}"

    action = None if name == "End" else Action(name, (("process", process),))
    return Observation(json.dumps(event), action, differs, Action("Kill", (("process", victim),)))
