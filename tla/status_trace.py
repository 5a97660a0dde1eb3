"""Has TLC judge recorded runs of components: is each a behaviour of ``status/TraceStatus.tla``?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tla.declared import Events, answered, declared_components, opened_ranks
from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "status"
_UNBOUNDED = 2**30
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
_GUARDS = (
    "ReportsKeyed",
    "WaitsForAll",
    "OneAtATime",
    "Staged",
    "FailureEnds",
    "FenceFails",
    "ExpiryFrees",
    "JoinMarks",
)
_INVARIANTS = ("NormalMeansFull", "ClearedMeansEmpty", "ChangesForOne", "Progress")
_PROPERTIES = ("InStages", "DoneIsDone", "EndStays")


@dataclass(frozen=True)
class Shape:
    """The declared components: their places in the spec, and its constants."""

    places: Mapping[str, int]
    parts: Mapping[str, int]
    count: int = 0
    per_stage: int = 1
    most: int = 1

    @property
    def without(self) -> frozenset[int]:
        """The parts that the spec must leave out."""
        there = {self.places[name] * self.most + part for name, parts in self.parts.items() for part in range(parts)}
        return frozenset(range(self.count * self.most)) - there


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    declared: Shape
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        there = self.declared
        return there.count, there.per_stage, there.most, *sorted(there.without)


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.shape = Shape({}, {})
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        self.seq = check_order(event, self.of, self.seq)
        if self.seq == 1:
            self.shape = _declared(event)
            return ("Declare",)
        name, args, result, post = answered(event, _EVENTS, _POST)
        if result.get("number", post["asked"]) != post["asked"] or result.get("outcome", "") not in (
            "",
            post["outcome"],
        ):
            raise Malformed(f"{name} answered {result}, and after it the state is {post}")
        place = self.shape.places.get(args.get("component", next(iter(self.shape.places))))
        if place is None:
            raise Malformed(f"there is no component {args['component']!r}")
        said = number(args.get("ok", args.get("goal", 0)), 2)
        part = number(args.get("part", 0), self.shape.most)
        return name, place, part, said, result.get("counts") is True, *self.post(post)

    def post(self, post: dict[str, Any]) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event, in the order of the spec's components."""
        rows = {key: post[key] for key in ("word", "partial", "reports", "lost")}
        if not all(isinstance(row, list) and len(row) == len(self.shape.places) for row in rows.values()):
            raise Malformed("each part of post must have one value for each component")
        if not isinstance(post["changing"], list) or not set(post["changing"]) <= set(self.shape.places):
            raise Malformed("changing must be a list of components")
        if not all(type(value) is bool for value in rows["partial"]):
            raise Malformed("partial must be true or false")
        words = self.spread(
            [number(value + 2, 4) - 2 if type(value) is int else number(value, 4) for value in rows["word"]], 0
        )
        reports = [frozenset(_report(one, self.shape.most) for one in there) for there in rows["reports"]]
        lost = [frozenset(number(part, self.shape.most) for part in there) for there in rows["lost"]]
        return (
            number(post["asked"], _UNBOUNDED),
            str(post["outcome"]),
            words,
            self.spread(rows["partial"], False),
            frozenset(self.shape.places[name] for name in post["changing"]),
            self.spread(reports, frozenset()),
            self.spread(lost, frozenset()),
        )

    def spread(self, row: Sequence[Any], other: Any) -> tuple[Any, ...]:
        """Return the values at the places of their components."""
        found = [other] * self.shape.count
        for place, value in zip(self.shape.places.values(), row, strict=True):
            found[place] = value
        return tuple(found)


def _report(one: object, most: int) -> tuple[int, bool]:
    if not isinstance(one, list) or len(one) != 2 or type(one[1]) is not bool:
        raise Malformed(f"a report is a part and whether it has done it, not {one}")
    return number(one[0], most), one[1]


def _declared(event: Event) -> Shape:
    listed = declared_components(event)
    for one in listed:
        if not isinstance(one, list) or [type(value) for value in one] != [str, int, int] or one[2] < 1:
            raise Malformed(f"a component is a name, a stage and a number of parts, not {one}")
    stages = sorted({stage for _, stage, _ in listed})
    rows = [[name for name, stage, _ in listed if stage == wanted] for wanted in stages]
    per_stage = max(map(len, rows))
    at = {name: number * per_stage + index for number, row in enumerate(rows) for index, name in enumerate(row)}
    parts = {name: count for name, _, count in listed}
    places = {name: at[name] for name, _, _ in listed}
    return Shape(places, parts, len(stages) * per_stage, per_stage, max(parts.values()))


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    ranks = opened_ranks(first, PROTOCOL)
    if not ranks:
        return Encoded(0, Shape({}, {}), (), "a run of components begins with Open, with v, protocol and ranks", 0)
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(ranks if events else 0, encoder.shape, events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("status/TraceStatus.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    shape = runs[0].declared
    constants: dict[str, Any] = {
        "K": shape.count,
        "PerStage": shape.per_stage,
        "N": shape.most,
        "Without": shape.without,
        "MaxAsked": _UNBOUNDED,
        "Mortal": frozenset(range(shape.most)),
        "Returns": True,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
