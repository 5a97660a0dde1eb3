"""Has TLC judge recorded runs of control requests: is each a behaviour of ``control/TraceControl.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.event_parts import exact_parts, ordered_ranks
from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("judge",)

_UNBOUNDED = 2**30
# Action -> the parts of args and of result.
_SHAPES: dict[str, tuple[set[str], set[str]]] = {
    **{name: ({"rank"}, set()) for name in ("Join", "Leave", "Fence", "Vanish", "Reappear")},
    **{name: ({"number"}, set()) for name in ("Collect", "EndLost", "EndTimeout", "Withdraw")},
    **{name: ({"rank", "number"}, set()) for name in ("Answer", "RefuseLate")},
    "Ask": ({"client"}, {"number"}),
    "Take": ({"rank"}, {"number"}),
}
_GUARDS = ("Keyed", "LateRefused", "SkipsEnded", "FenceDooms", "TimeoutEnds")
_INVARIANTS = ("NoMixing", "OncePerRank", "DoneIsWhole", "Bounded", "Progress")


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    capacity: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return self.ranks, self.capacity


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.ranks: int = opening["ranks"]
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name = str(event.get("action"))
        self.seq = check_order(event, self.of, self.seq)
        if name not in _SHAPES:
            raise Malformed(f"{name!r} is not an action that a host can see")
        args = exact_parts("args", event.get("args"), _SHAPES[name][0])
        result = exact_parts("result", event.get("result"), _SHAPES[name][1])
        post = exact_parts("post", event.get("post"), {"asked", "open", "served", "doing", "lost"})
        number(args.get("client", 0), _UNBOUNDED)
        rank = number(args.get("rank", 0), self.ranks)
        which = number({**args, **result}.get("number", 0), _UNBOUNDED)
        return (name, rank, which, *self.after(post))

    def after(self, post: Event) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        requests, served, doing = post["open"], post["served"], post["doing"]
        if not isinstance(requests, list) or not all(isinstance(one, list) and len(one) == 3 for one in requests):
            raise Malformed("open must be a list of [number, answered, without]")
        if not all(isinstance(row, list) and len(row) == self.ranks for row in (served, doing)):
            raise Malformed("served and doing must have a number for each rank")
        numbers = [number(one[0], _UNBOUNDED) for one in requests]
        if numbers != sorted(set(numbers)):
            raise Malformed("open requests must be in the order of their numbers")
        shown = frozenset(
            (n, *(ordered_ranks(ranks, self.ranks) for ranks in one[1:]))
            for n, one in zip(numbers, requests, strict=True)
        )
        rows = (tuple(number(value, _UNBOUNDED) for value in row) for row in (served, doing))
        return number(post["asked"], _UNBOUNDED), shown, *rows, ordered_ranks(post["lost"], self.ranks)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    shape = [first.get(name) for name in ("ranks", "capacity")]
    usable = all(type(value) is int and value >= 1 for value in shape)
    usable = usable and first.get("protocol") == "control" and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        return Encoded(0, 0, (), "a run of control begins with Open, with v, protocol, ranks and capacity", 0)
    events, malformed, at = read_events(trace, _Encoder(first).event)
    return Encoded(first["ranks"], first["capacity"], events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("control/TraceControl.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    everybody = frozenset(range(runs[0].ranks))
    constants: dict[str, Any] = {
        "N": runs[0].ranks,
        "MaxAsked": _UNBOUNDED,
        "Capacity": runs[0].capacity,
        "Leavers": everybody,
        "Mortal": everybody,
        "Silent": everybody,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, ("TakesOpenInOrder", "EndedStays"))
