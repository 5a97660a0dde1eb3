"""Recorded runs of processes at a ring, judged by ``models/ring.py``: ``who`` is the process, or of Fence the rank."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.ring import Ring
from models.ring_state import VOID, Config, State, load

__all__ = ("accept_channel",)

Event = dict[str, Any]
_LINE = ("v", "protocol", "dp")
_BOUNDS = ("ranks", "slots", "puts", "joins", "clears")


class _Malformed(Exception):
    """The event cannot be one of this run."""


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one run: Open with its bounds, and then what the processes did."""
    opening, *rest = events
    bounds: list[Any] = [opening.get(name) for name in _BOUNDS]
    usable = all(type(value) is int and value >= 0 for value in bounds) and min(bounds[:3]) >= 1
    if opening.get("action") != "Open" or not usable or bounds[3] > bounds[0]:
        return Verdict(
            channel, False, 1, f"the first event must be Open, with {', '.join(_BOUNDS)}", json.dumps(opening)
        )
    ranks, slots, puts, joins, clears = bounds
    model = Ring(Config(ranks, slots, puts, joins, clears, frozenset(range(ranks + joins + 2))))
    observations: list[Observation[State]] = []
    wrong = ""
    for event in rest:
        try:
            observations.append(_observe(model, event, opening))
        except _Malformed as error:
            wrong = str(error)
            break
    verdict = judge(model, model.initial(), observations, channel)
    if wrong and verdict.accepted:
        number = len(observations)
        return replace(verdict, accepted=False, events=number + 1, reason=wrong, event=json.dumps(rest[number]))
    return verdict


def _observe(model: Ring, event: Event, opening: Event) -> Observation[State]:
    wanted = {"action", "who", "value", *_LINE}
    if set(event) != wanted or any(event[key] != opening.get(key) for key in _LINE):
        raise _Malformed(f"an event has exactly {sorted(wanted)}, and v, protocol and dp are those of Open")
    name, who, value = event["action"], event["who"], event["value"]
    if type(who) is not int or type(value) is not int or not 0 <= who <= model.clearer:
        raise _Malformed(f"there is no process {who}, or no value")
    if name == "Got":
        if who not in model.lines:
            raise _Malformed(f"process {who} reads nothing")
        return Observation(json.dumps(event), None, lambda a, b: _is(b.got[who][-1:], (value,)))
    if name not in model.actions or (name == "Fence" and who not in model.ranks):
        raise _Malformed(f"{name!r} is not an action that a process notes")
    params: tuple[tuple[str, int], ...] = (("rank" if name == "Fence" else "process", who),)
    params += (("store", 1),) if name == "Flush" else ()
    check = _checks(model, who).get(name)
    return Observation(
        json.dumps(event), Action(name, params), lambda a, b: "" if check is None else _is(check(a, b), value)
    )


def _checks(model: Ring, p: int) -> dict[str, Callable[[State, State], object]]:
    """What was loaded or stored, as the model says it."""
    return {
        "LoadCursor": lambda a, b: load(a, p, "cursor", model.line_of(a.known, a.at[p])),
        "LoadLife": lambda a, b: load(a, p, "life", a.at[p]),
        "Publish": lambda a, b: b.head,
        "TakeOver": lambda a, b: b.head,
        "SeeSeq": lambda a, b: a.pos[p] + 1,
        "StoreBegun": lambda a, b: a.pos[p] + 1,
        "SeeGate": lambda a, b: a.mem.gate[0],
        "CopyData": lambda a, b: min(b.took[p], 0) if b.took[p] == VOID else 0,
        "StoreCursor": lambda a, b: b.pos[p],
        "StoreStart": lambda a, b: b.pos[p],
        "SeeBegun": lambda a, b: load(a, p, "begun", a.at[p]),
        "SeeHead": lambda a, b: load(a, p, "seq", a.at[p]),
    }


def _is(found: object, noted: object) -> str:
    return "" if found == noted else f"the model says {found}, and {noted} was noted"
