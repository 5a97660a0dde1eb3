"""Recorded runs of processes at a ring, judged by ``models/ring.py``: ``who`` is the process, or of Fence the rank."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.recorded import Event, Malformed, read
from models.recorded_steps import differs, noted, observed
from models.ring import Ring
from models.ring_state import Config, State, load

__all__ = ("accept_channel",)

_BOUNDS = ("ranks", "slots", "puts", "joins", "clears")


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
    reading = read(rest, lambda event, _: _observe(model, event, opening), json.dumps)
    return reading.ended(judge(model, model.initial(), reading.found, channel))


def _observe(model: Ring, event: Event, opening: Event) -> Observation[State]:
    name, who, value = noted(event, opening)
    if type(who) is not int or type(value) is not int or not 0 <= who <= model.clearer:
        raise Malformed(f"there is no process {who}, or no value")
    if name == "Got":
        if who not in model.lines:
            raise Malformed(f"process {who} reads nothing")
        return Observation(json.dumps(event), None, lambda a, b: differs(b.got[who][-1:], (value,)))
    if name not in model.actions or (name == "Fence" and who not in model.ranks):
        raise Malformed(f"{name!r} is not an action that a process notes")
    params: tuple[tuple[str, int], ...] = (("rank" if name == "Fence" else "process", who),)
    params += (("store", 1),) if name == "Flush" else ()
    return observed(event, Action(name, params), _checks(model, who).get(name))


def _checks(model: Ring, p: int) -> dict[str, Callable[[State, State], object]]:
    """What was loaded or stored, as the model says it."""
    return {
        "LoadCursor": lambda a, b: load(a, p, "cursor", model.line_of(a.known, a.at[p])),
        "LoadLife": lambda a, b: load(a, p, "life", a.at[p]),
        "Publish": lambda a, b: b.head,
        "TakeOver": lambda a, b: b.head,
        "SeeVoid": lambda a, b: load(a, p, "seq", model.slot(a.low[p] + 1)),
        "SeeSeq": lambda a, b: load(a, p, "seq", model.slot(a.pos[p] + 1)),
        "StoreBegun": lambda a, b: a.pos[p] + 1,
        "SeeGate": lambda a, b: a.mem.gate[0],
        "StoreCursor": lambda a, b: b.pos[p],
        "StoreSkip": lambda a, b: b.pos[p],
        "StoreStart": lambda a, b: b.pos[p],
        "SeeBegun": lambda a, b: load(a, p, "begun", a.at[p]),
        "SeeHead": lambda a, b: load(a, p, "seq", a.at[p]),
        "SeeMark": lambda a, b: load(a, p, "seq", model.slot(a.at[p])),
        "StoreVoid": lambda a, b: -a.at[p],
    }
