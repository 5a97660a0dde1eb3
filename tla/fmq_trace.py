"""Has TLC judge recorded runs of FMQ queues: is each a behaviour of ``fmq/TraceFmq.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL: Final = "fmq"
_UNBOUNDED = 2**30
_MOST = 1000
# Action -> the parts of args.
_SHAPES: dict[str, set[str]] = {
    "Put": {"p", "number", "base"},
    "Connect": {"p", "base", "again"},
    **{key: {"p", "k"} for key in ("Cut", "End")},
    **{key: {"p", "number"} for key in ("HearAck", "Finish", "Acknowledge", "Reclaim")},
    **{key: {"p", "c", "number", "base"} for key in ("Take", "Skip", "Drop")},
    **{key: set[str]() for key in ("StartConsumer", "EndConsumer", "Sweep")},
}
_GUARDS = (
    "Dedups",
    "KeepsUntilAcked",
    "AcksDone",
    "Resends",
    "FreshLink",
    "Outlives",
    "DrainsFirst",
    "Reclaims",
)
_INVARIANTS = ("InOrder", "NoHole", "AckedWasDone", "SkipsOnlyDone", "HeldThere", "Bounded", "Progress")


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks``, its producers, is 0 when there is no usable Open."""

    ranks: int
    window: int
    large: int
    keep: bool
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return self.ranks, self.window, self.large, self.keep


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.producers: int = opening["producers"]
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name = str(event.get("action"))
        self.seq = check_order(event, self.of, self.seq)
        if name not in _SHAPES:
            raise Malformed(f"{name!r} is not an action that a handle can see")
        args = event.get("args")
        if not isinstance(args, dict) or set(args) != _SHAPES[name]:
            raise Malformed(f"args must have exactly {sorted(_SHAPES[name])}, not {args}")
        p = number(args.get("p", 0), self.producers)
        rest = [number(args.get(key, 0), _UNBOUNDED) for key in ("number", "base", "again")]
        return (name, p, number(args.get("c", args.get("k", 0)), _UNBOUNDED), *rest)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    sizes = [first.get(name) for name in ("producers", "window", "large")]
    usable = all(type(size) is int and size >= 0 for size in sizes) and 0 not in sizes[:2]
    usable = usable and type(first.get("keep")) is bool and first.get("protocol") == PROTOCOL
    if first.get("action") != "Open" or not usable or first.get("v") != FORMAT:
        text = "a run of fmq begins with Open, with v, protocol, producers, window, large and keep"
        return Encoded(0, 0, 0, True, (), text, 0)
    events, malformed, at = read_events(trace, _Encoder(first).event)
    return Encoded(first["producers"], first["window"], first["large"], first["keep"], events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("fmq/TraceFmq.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    one = runs[0]
    constants: dict[str, Any] = {
        "P": one.ranks,
        "MaxSent": _UNBOUNDED,
        "Window": one.window,
        "Large": frozenset(range(one.large, _MOST, one.large)) if one.large else frozenset(),
        "MaxStarts": _UNBOUNDED,
        "MaxCuts": _UNBOUNDED,
        "Mortal": frozenset(range(one.ranks)),
        "Keep": one.keep,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, ("AckedStays",))
