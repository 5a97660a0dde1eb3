"""Recorded runs of processes at a meeting, judged by ``models/meeting.py``: ``who`` is the process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.meeting import Meeting
from models.meeting_state import Config, State
from models.recorded import Event, Malformed, read
from models.recorded_steps import noted, observed
from models.store_buffers import load

__all__ = ("accept_channel",)

_BOUNDS = ("ranks", "labels", "places", "calls")
_OUTCOMES = ("passed", "refused", "timeout", "mismatch", "lost", "broken")


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one run: Open with its bounds, and then what the processes did."""
    opening, *rest = events
    bounds: list[Any] = [opening.get(name) for name in _BOUNDS]
    if opening.get("action") != "Open" or not all(type(value) is int and value >= 1 for value in bounds):
        return Verdict(
            channel, False, 1, f"the first event must be Open, with {', '.join(_BOUNDS)}", json.dumps(opening)
        )
    ranks, labels, places, calls = bounds
    waiters, everybody = frozenset((*range(ranks), ranks + 1)), frozenset(range(ranks + 2))
    model = Meeting(
        Config(
            ranks,
            labels,
            places,
            calls,
            aborts=True,
            fences=True,
            parts=True,
            timed=waiters,
            mortal=everybody,
            comes=True,
        )
    )
    reading = read(rest, lambda event, _: _observe(model, event, opening), json.dumps)
    return reading.ended(judge(model, model.initial(), reading.found, channel))


def _observe(model: Meeting, event: Event, opening: Event) -> Observation[State]:
    name, who, value = noted(event, opening)
    if type(who) is not int or type(value) is not int or who not in model.everybody:
        raise Malformed(f"there is no process {who}, or no value")
    if name == "Told":
        if who not in model.waiters or not 0 <= value < len(_OUTCOMES):
            raise Malformed(f"process {who} is told nothing, or there is no outcome {value}")
        return Observation(json.dumps(event), None, lambda a, b: _told(b, who, _OUTCOMES[value]))
    if name not in model.actions:
        raise Malformed(f"{name!r} is not an action that a process notes")
    params: tuple[tuple[str, int], ...] = (("process", who),)
    if name == "Begin":
        params = (("label", value), *params)
    return observed(event, Action(name, params), _checks(model, who).get(name))


def _checks(model: Meeting, p: int) -> dict[str, Callable[[State, State], object]]:
    """What was loaded or stored, as the model says it."""
    return {
        "SeeLife": lambda a, b: load(a, p, "life", model.rank_of(p)),
        "SeeStanding": lambda a, b: load(a, p, "life", model.rank_of(p)),
        "StoreWord": lambda a, b: a.stamp[p],
        "SeeTurn": lambda a, b: load(a, p, "turn", 0),
        "StoreTurn": lambda a, b: load(b, p, "turn", 0),
        "SeeNext": lambda a, b: load(a, p, "turn", 0),
        "StoreCount": lambda a, b: b.buf[p][-1][2],
        "SeeWhy": lambda a, b: _why(a, b, p),
    }


def _why(a: State, b: State, p: int) -> int:
    """What SeeWhy has found: an outcome, or that the ending was about another barrier."""
    found = [what for turn, what in b.told[p] - a.told[p]]
    return _OUTCOMES.index(found[0]) if found else len(_OUTCOMES)


def _told(s: State, p: int, outcome: str) -> str:
    """What a wait has said: of a refused one nobody stores the turn."""
    ends = {what for turn, what in s.told[p] if what == outcome and (turn == s.stamp[p] or outcome == "refused")}
    return "" if ends else f"{outcome} was noted, and the model says {sorted(s.told[p])}"
