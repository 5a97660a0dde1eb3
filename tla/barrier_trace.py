"""Has TLC judge recorded runs of barriers: is each a behaviour of ``barrier/TraceBarrier.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PREFIX", "judge")

PREFIX = "barriers."
_UNBOUNDED = 2**30
_ARGS = {
    **{name: {"rank"} for name in ("Join", "Leave", "Fence", "Timeout")},
    **{name: {"rank", "barrier", "label", "round"} for name in ("Arrive", "Pass", "Mismatch", "Refuse")},
    "Abort": {"barrier"},
    "Reset": {"barrier", "abort"},
}
_GUARDS = (
    "FenceWithdraws",
    "FenceWakes",
    "ResetHarmless",
    "ResetNamesAbort",
    "RoundsCount",
    "OneWaitPerRank",
    "LabelsChecked",
    "RoundsChecked",
    "CrossWaitFound",
)
_INVARIANTS = (
    "Together",
    "NoGhostArrival",
    "OneArrival",
    "OneLabel",
    "RoundAsNamed",
    "NoCrossWait",
    "AbortsHold",
    "Progress",
)


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    barriers: int
    labels: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return self.ranks, self.barriers


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.ranks: int = opening["ranks"]
        self.names: list[str] = opening["barriers"]
        self.labels: dict[str, int] = {}
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name, args = event.get("action"), event.get("args")
        self.seq = check_order(event, self.of, self.seq)
        wanted = _ARGS.get(str(name))
        if wanted is None or not isinstance(args, dict) or set(args) != wanted or event.get("result", {}) != {}:
            raise Malformed(f"{name} with {args} is not an action that a host can see")
        rank = number(args.get("rank", 0), self.ranks)
        where = self.names.index(args["barrier"]) if args.get("barrier") in self.names else -1
        if "barrier" in args and where < 0:
            raise Malformed(f"there is no barrier {args['barrier']!r}")
        label = args.get("label", "")
        if not isinstance(label, str):
            raise Malformed(f"label {label!r} is not a string")
        counted = args.get("abort", args.get("round"))
        said = -1 if counted is None else number(counted, _UNBOUNDED)
        return (name, rank, max(where, 0), self.labels.setdefault(label, len(self.labels)), said, *self.post(event))

    def post(self, event: Event) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        post = event.get("post")
        keys = ("generation", "arrived", "broken", "aborts", "lost")
        if not isinstance(post, dict) or set(post) != set(keys):
            raise Malformed(f"post must have exactly {keys}")
        lost = post["lost"]
        if not isinstance(lost, list):
            raise Malformed("lost must be a list of ranks")
        rows = [post[key] for key in keys[:-1]]
        if not all(isinstance(row, list) and len(row) == len(self.names) for row in rows):
            raise Malformed("each part of post must have one value for each barrier")
        generation, arrived, broken, aborts = rows
        if not all(isinstance(there, list) for there in arrived) or not all(type(value) is bool for value in broken):
            raise Malformed("arrived must be lists of ranks, and broken true or false")
        return (
            tuple(number(value, _UNBOUNDED) for value in generation),
            tuple(tuple(number(rank, self.ranks) for rank in there) for there in arrived),
            tuple(broken),
            tuple(number(value, _UNBOUNDED) for value in aborts),
            frozenset(number(rank, self.ranks) for rank in lost),
        )


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    ranks, names = first.get("ranks"), first.get("barriers")
    usable = type(ranks) is int and ranks >= 1 and isinstance(names, list) and len(names) >= 1
    usable = usable and str(first.get("protocol", "")).startswith(PREFIX) and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        return Encoded(0, 0, 0, (), "a run of barriers begins with Open, with v, protocol, ranks and barriers", 0)
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(encoder.ranks, len(encoder.names), max(1, len(encoder.labels)), events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("barrier/TraceBarrier.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    everybody = frozenset(range(runs[0].ranks))
    constants: dict[str, Any] = {
        "N": runs[0].ranks,
        "B": runs[0].barriers,
        "L": max(run.labels for run in runs),
        "MaxRounds": _UNBOUNDED,
        "MaxAborts": _UNBOUNDED,
        "Named": True,
        "Leavers": everybody,
        "Mortal": everybody,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, ("PassNeedsAll",))
