"""Has TLC judge recorded runs of readiness: is each a behaviour of ``readiness/TraceReadiness.tla``?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tla.declared import Events, answered, declared_components, opened_ranks
from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "readiness"
_UNBOUNDED = 2**30
_OF_PART = ("component", "rank")
_EVENTS: Events = {
    **dict.fromkeys(("Fence", "Leave", "Ready", "Fail", "Withdraw", "Stall", "Recover"), (_OF_PART, ())),
    **dict.fromkeys(("Complete", "GiveUp", "Expire"), (("number",), ())),
    "Join": (_OF_PART, ("inc",)),
    "Wait": (("by", "components", "patient"), ("number",)),
}
_POST = ("status", "inc", "said", "stuck", "open")
_STATUS = ("away", "live", "lost")
_SAID = ("nothing", "starting", "ready", "failed")
_GUARDS = (
    "EveryPart",
    "FenceResets",
    "WordsKeyed",
    "BeatsKeyed",
    "AgeCounts",
    "FailureTells",
    "LossTells",
    "Ordered",
)
_INVARIANTS = ("SaidIsSo", "GoneIsNotReady", "Progress")
_PROPERTIES = ("DoneIsReady", "DoneIsFresh", "FailedIsTrue", "EndStays")


@dataclass(frozen=True)
class Shape:
    """The declared components: their numbers and sizes, and what each needs."""

    numbers: Mapping[str, int]
    sizes: tuple[int, ...] = ()
    needs: frozenset[int] = frozenset()

    @property
    def most(self) -> int:
        """Parts of the largest component."""
        return max(self.sizes, default=1)

    @property
    def without(self) -> frozenset[int]:
        """The parts that the spec must leave out."""
        return frozenset(k * self.most + p for k, size in enumerate(self.sizes) for p in range(size, self.most))

    def part(self, component: object, rank: object) -> int:
        """Return the spec's number of a part."""
        k = self.numbers.get(component) if isinstance(component, str) else None
        if k is None:
            raise Malformed(f"there is no component {component!r}")
        return k * self.most + number(rank, self.sizes[k])


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
        return *self.declared.sizes, -1, *sorted(self.declared.needs)


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.shape = Shape({})
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        self.seq = check_order(event, self.of, self.seq)
        if self.seq == 1:
            self.shape = _declared(event)
            return ("Declare",)
        name, args, result, post = answered(event, _EVENTS, _POST)
        answer = number(next(iter(result.values()), 0), _UNBOUNDED)
        return name, *self.who(args), answer, *self.post(post)

    def who(self, args: dict[str, Any]) -> tuple[int, int, int]:
        """Return the part, the wait's number or who waits; for what; and how."""
        if "rank" in args:
            return self.shape.part(args["component"], args["rank"]), 0, 0
        if "number" in args:
            return number(args["number"], _UNBOUNDED), 0, 0
        by, names = args["by"], args["components"]
        if not isinstance(by, list) or len(by) not in (0, 2) or not isinstance(names, list) or not names:
            raise Malformed(f"a wait is by nobody or a part, and for components, not by {by} for {names}")
        if not set(names) <= set(self.shape.numbers):
            raise Malformed(f"{names} must be components")
        mask = sum(1 << self.shape.numbers[name] for name in set(names))
        return 1 + self.shape.part(*by) if by else 0, mask, number(args["patient"], 2)

    def post(self, post: dict[str, Any]) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        for key, allowed in (("status", _STATUS), ("said", _SAID), ("stuck", (True, False))):
            if not all(type(value) in (str, bool) and value in allowed for row in post[key] for value in row):
                raise Malformed(f"{key} must be some of {allowed}, not {post[key]}")
        if not isinstance(post["open"], list):
            raise Malformed("open must be a list of numbers")
        return (
            self.spread(post["status"], "away"),
            self.spread([[number(one, _UNBOUNDED) for one in row] for row in post["inc"]], 0),
            self.spread(post["said"], "nothing"),
            self.spread(post["stuck"], False),
            frozenset(number(one, _UNBOUNDED) for one in post["open"]),
        )

    def spread(self, rows: Any, other: Any) -> tuple[Any, ...]:
        """Return the values of all parts, in the spec's order."""
        if [len(row) for row in rows] != list(self.shape.sizes):
            raise Malformed("each part of post must have a list for each component, with a value for each part")
        return tuple(value for row in rows for value in (*row, *[other] * (self.shape.most - len(row))))


def _declared(event: Event) -> Shape:
    listed = declared_components(event)
    for one in listed:
        if not isinstance(one, list) or [type(value) for value in one] != [str, int, list] or one[1] < 1:
            raise Malformed(f"a component is a name, a number of parts and a list of components, not {one}")
    numbers = {one[0]: k for k, one in enumerate(listed)}
    if not all(set(one[2]) <= set(numbers) for one in listed):
        raise Malformed("a component needs one that there is not")
    needs = frozenset(k * len(listed) + numbers[name] for k, one in enumerate(listed) for name in one[2])
    return Shape(numbers, tuple(one[1] for one in listed), needs)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    ranks = opened_ranks(first, PROTOCOL)
    if not ranks:
        return Encoded(0, Shape({}), (), "a run of readiness begins with Open, with v, protocol and ranks", 0)
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(ranks if events else 0, encoder.shape, events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("readiness/TraceReadiness.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    shape = runs[0].declared
    count = len(shape.sizes)
    everybody = frozenset(range(count * shape.most))
    chosen = ("Mortal", "Hangs", "Failing", "Reloading", "Leavers")
    constants: dict[str, Any] = {
        "K": count,
        "N": shape.most,
        "Without": shape.without,
        "Needs": shape.needs,
        "MaxInc": _UNBOUNDED,
        "MaxWaits": _UNBOUNDED,
        "Askers": frozenset(range(count * shape.most + 1)),
        "Masks": frozenset(range(1, 2**count)),
        "Patience": frozenset({0, 1}),
        "Cuts": frozenset(),
        **dict.fromkeys(chosen, everybody),
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
