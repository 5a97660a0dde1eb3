"""Recorded runs of the components of a replica (NDJSON, one event a line), judged by the model.

A file may hold channels of any protocol; those of ``status`` are judged, one run for each replica. The numbers ``seq``
are given inside the host's critical section: 1, 2, 3, ... without a gap. The first event after Open is Declare, which
says which components there are; a replica that never had any has no other event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.recorded import Event, Malformed, after_it, differing, in_words, read
from models.recorded_components import Events, answered, listed_components
from models.recorded_lines import accept_lines
from models.status import Status
from models.status_state import LOST, Config, State, initial_state

__all__ = ("PROTOCOL", "accept", "accept_channel", "accept_file")

PROTOCOL = "status"
_OF_PART = ("component", "part")
_EVENTS: Events = {
    "Join": (_OF_PART, ()),
    "Fence": (_OF_PART, ()),
    "Ask": (("goal",), ("number", "outcome")),
    "Take": (_OF_PART, ("number",)),
    "Report": ((*_OF_PART, "ok"), ("counts",)),
    "Settle": (("component",), ()),
    "NextStage": ((), ()),
    "Finish": ((), ()),
    "Fail": ((), ()),
    "Expire": ((), ()),
}
_POST = ("asked", "outcome", "word", "partial", "changing", "reports", "lost")


@dataclass(frozen=True)
class Shape:
    """The declared components: the number that the model has for each, and its configuration."""

    numbers: Mapping[str, int]
    config: Config


def accept_file(path: str) -> list[Verdict]:
    """Judge the components of every replica in a trace file."""
    with open(path, encoding="utf-8") as lines:
        return accept(lines)


def accept(lines: Iterable[str]) -> list[Verdict]:
    """Judge the components of every replica in a trace. A line that cannot be read rejects the whole trace."""
    nothing = "the trace has no components: there is no Open event of status"
    return accept_lines(lines, lambda protocol: protocol == PROTOCOL, accept_channel, nothing)


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one recorded replica."""
    opening, *rest = events
    if opening["action"] != "Open" or type(opening.get("ranks")) is not int or opening["ranks"] < 1:
        return Verdict(channel, False, 1, "the first event must be Open, with ranks", opening["action"])
    if not rest:
        return Verdict(channel, True, 0)
    try:
        shape = _shape(rest[0])
    except Malformed as error:
        return Verdict(channel, False, 1, str(error), in_words(rest[0]))
    reading = read(rest[1:], lambda event, number: _observe(event, number, shape), first=2)
    verdict = reading.ended(judge(Status(shape.config), [initial_state(shape.config)], reading.found, channel))
    return replace(verdict, events=verdict.events + 1)


def _shape(event: Event) -> Shape:
    """Return the components of a Declare event: those of a stage are numbered together, as the model wants it."""
    declared = listed_components(event)
    for one in declared:
        fits = isinstance(one, list) and len(one) == 3 and isinstance(one[0], str)
        if not fits or not all(type(n) is int for n in one[1:]) or one[2] < 1:
            raise Malformed(f"a component is a name, a stage and a number of parts, not {one}")
    stages = sorted({stage for _, stage, _ in declared})
    members = {stage: [name for name, of, _ in declared if of == stage] for stage in stages}
    per_stage, most = max(map(len, members.values())), max(parts for _, _, parts in declared)
    numbers = {
        name: place * per_stage + index
        for place, stage in enumerate(stages)
        for index, name in enumerate(members[stage])
    }
    there = {numbers[name] * most + part for name, _, parts in declared for part in range(parts)}
    count = len(stages) * per_stage
    config = Config(
        components=count,
        per_stage=per_stage,
        parts=most,
        without=frozenset(range(count * most)) - there,
        max_asked=None,
        mortal=frozenset(range(most)),
    )
    return Shape({name: numbers[name] for name, _, _ in declared}, config)


def _observe(event: Event, number: int, shape: Shape) -> Observation[State]:
    name, args, result, post = answered(event, number, _EVENTS, _POST)
    params: list[tuple[str, int]] = []
    for key in _EVENTS[name][0]:
        value = shape.numbers.get(args[key]) if key == "component" and isinstance(args[key], str) else args[key]
        if type(value) is not int or value < 0:
            raise Malformed(f"{key} {args[key]!r} is not one that was declared, or no number from 0")
        params.append((key, value))
    action = Action(name, tuple(params))
    silent = Action("Crash", tuple(params)) if name == "Fence" else None

    def differs(before: State, after: State) -> str:
        shown, told = _shown(after, shape), _told(name, before, after)
        return after_it(differing(post, shown) + differing(result, told))

    return Observation(in_words(event), action, differs, silent)


def _shown(state: State, shape: Shape) -> dict[str, Any]:
    numbers = shape.numbers.values()
    return {
        "asked": state.asked,
        "outcome": state.outcome[-1] if state.outcome else "",
        "word": [state.word[k] for k in numbers],
        "partial": [state.partial[k] for k in numbers],
        "changing": [name for name, k in shape.numbers.items() if k in state.changing],
        "reports": [sorted([r.part, r.ok] for r in state.reports[k]) for k in numbers],
        "lost": [[p for p, status in enumerate(state.status[k]) if status == LOST] for k in numbers],
    }


def _told(name: str, before: State, after: State) -> dict[str, Any]:
    if name == "Ask":
        return {"number": after.asked, "outcome": after.outcome[-1]}
    if name == "Take":
        return {"number": after.asked}
    return {"counts": before.reports != after.reports} if name == "Report" else {}
