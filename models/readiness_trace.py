"""Recorded runs of readiness (NDJSON, one event a line), judged by the model.

A file may hold channels of any protocol; those of ``readiness`` are judged, one run for each replica. The numbers
``seq`` are given inside the host's critical section: 1, 2, 3, ... without a gap. The first event after Open is Declare,
which says which components there are; a replica that never had any has no other event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.readiness import Readiness
from models.readiness_state import DEAD, LIVE, Config, State, initial_state
from models.recorded import Event, Malformed, after_it, differing, in_words, read
from models.recorded_components import Events, answered, listed_components
from models.recorded_lines import accept_lines

__all__ = ("PROTOCOL", "Shape", "accept", "accept_channel", "accept_file", "shape_of")

PROTOCOL = "readiness"
_OF_PART = ("component", "rank")
_EVENTS: Events = {
    "Join": (_OF_PART, ("inc",)),
    "Fence": (_OF_PART, ()),
    "Leave": (_OF_PART, ()),
    "Ready": (_OF_PART, ()),
    "Fail": (_OF_PART, ()),
    "Withdraw": (_OF_PART, ()),
    "Stall": (_OF_PART, ()),
    "Recover": (_OF_PART, ()),
    "Wait": (("by", "components", "patient"), ("number",)),
    "Complete": (("number",), ()),
    "GiveUp": (("number",), ()),
    "Expire": (("number",), ()),
}
_POST = ("status", "inc", "said", "stuck", "open")
# What nobody can record, directly before what shows it.
_SILENT = {"Fence": "Crash", "Stall": "Age", "Recover": "Beat"}


@dataclass(frozen=True)
class Shape:
    """The declared components: the numbers that the model has for them and their parts, and its configuration."""

    numbers: Mapping[str, int]
    sizes: Mapping[str, int]
    config: Config

    def part(self, component: object, rank: object) -> int:
        """Return the number of a part."""
        if not isinstance(component, str) or component not in self.numbers:
            raise Malformed(f"{component!r} was not declared")
        if type(rank) is not int or not 0 <= rank < self.sizes[component]:
            raise Malformed(f"{component} has no part {rank!r}")
        return self.numbers[component] * self.config.parts + rank

    def rows(self, values: tuple[Any, ...]) -> list[list[Any]]:
        """Return the values of all parts, a list for each component."""
        at = ((self.numbers[name] * self.config.parts, size) for name, size in self.sizes.items())
        return [list(values[start : start + size]) for start, size in at]


def accept_file(path: str) -> list[Verdict]:
    """Judge the components of every replica in a trace file."""
    with open(path, encoding="utf-8") as lines:
        return accept(lines)


def accept(lines: Iterable[str]) -> list[Verdict]:
    """Judge the components of every replica in a trace. A line that cannot be read rejects the whole trace."""
    nothing = "the trace has no readiness: there is no Open event of it"
    return accept_lines(lines, lambda protocol: protocol == PROTOCOL, accept_channel, nothing)


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one recorded replica."""
    opening, *rest = events
    if opening["action"] != "Open" or type(opening.get("ranks")) is not int or opening["ranks"] < 1:
        return Verdict(channel, False, 1, "the first event must be Open, with ranks", opening["action"])
    if not rest:
        return Verdict(channel, True, 0)
    try:
        shape = _declared(rest[0])
    except Malformed as error:
        return Verdict(channel, False, 1, str(error), in_words(rest[0]))
    reading = read(rest[1:], lambda event, number: _observe(event, number, shape), first=2)
    verdict = reading.ended(judge(Readiness(shape.config), [initial_state(shape.config)], reading.found, channel))
    return replace(verdict, events=verdict.events + 1)


def _declared(event: Event) -> Shape:
    declared = listed_components(event)
    for one in declared:
        fits = isinstance(one, list) and [type(value) for value in one] == [str, int, list] and one[1] >= 1
        if not fits or not set(one[2]) <= {other[0] for other in declared}:
            raise Malformed(f"a component is a name, a number of parts and a list of components, not {one}")
    return shape_of([(name, parts, tuple(needs)) for name, parts, needs in declared])


def shape_of(declared: list[tuple[str, int, tuple[str, ...]]]) -> Shape:
    """Return what declared components are in the model: nothing is bounded, and everything may happen."""
    numbers = {name: number for number, (name, _, _) in enumerate(declared)}
    count, most = len(declared), max(parts for _, parts, _ in declared)
    there = {numbers[name] * most + rank for name, parts, _ in declared for rank in range(parts)}
    everybody = frozenset(range(count * most))
    config = Config(
        components=count,
        parts=most,
        without=everybody - there,
        needs=frozenset(numbers[name] * count + numbers[needed] for name, _, needs in declared for needed in needs),
        max_inc=None,
        max_waits=None,
        askers=frozenset({0}) | {1 + p for p in there},
        masks=frozenset(range(1, 2**count)),
        patience=frozenset({0, 1}),
        mortal=everybody,
        hangs=everybody,
        failing=everybody,
        reloading=everybody,
        leavers=everybody,
    )
    return Shape(numbers, {name: parts for name, parts, _ in declared}, config)


def _observe(event: Event, number: int, shape: Shape) -> Observation[State]:
    name, args, result, post = answered(event, number, _EVENTS, _POST)
    action = _action(name, args, shape)
    silent = Action(_SILENT[name], action.params) if name in _SILENT else None

    def differs(before: State, after: State) -> str:
        shown, told = _shown(after, shape), _told(name, action, after)
        return after_it(differing(post, shown) + differing(result, told))

    return Observation(in_words(event), action, differs, silent)


def _action(name: str, args: Mapping[str, Any], shape: Shape) -> Action:
    if "rank" in args:
        return Action(name, (("p", shape.part(args["component"], args["rank"])),))
    if name != "Wait":
        number = args["number"]
        if type(number) is not int or number < 1:
            raise Malformed(f"{number!r} is no number of a wait")
        return Action(name, (("w", number),))
    by, names, patient = args["by"], args["components"], args["patient"]
    if not isinstance(by, list) or len(by) not in (0, 2) or not isinstance(names, list) or not names:
        raise Malformed(f"a wait is by nobody or a part, and for components, not by {by} for {names}")
    if type(patient) is not int or patient not in (0, 1) or not all(one in shape.numbers for one in names):
        raise Malformed(f"patient must be 0 or 1, and {names} declared")
    mask = sum({1 << shape.numbers[one] for one in names})
    return Action(name, (("by", 1 + shape.part(*by) if by else 0), ("mask", mask), ("patient", patient)))


def _shown(state: State, shape: Shape) -> dict[str, Any]:
    status = tuple(LIVE if status == DEAD else status for status in state.status)
    return {
        "status": shape.rows(status),
        "inc": shape.rows(state.inc),
        "said": shape.rows(state.said),
        "stuck": shape.rows(state.stuck),
        "open": [w for w, wait in enumerate(state.waits, 1) if wait.outcome == "open"],
    }


def _told(name: str, action: Action, after: State) -> dict[str, Any]:
    if name == "Join":
        return {"inc": after.inc[action.params[0][1]]}
    return {"number": len(after.waits)} if name == "Wait" else {}
