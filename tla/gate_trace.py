"""Has TLC judge recorded runs of gates: is each a behaviour of ``gate/TraceGate.tla``?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.event_parts import exact_parts
from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOLS", "judge")

PROTOCOLS = ("connect_response", "add_cache", "send_cache")
_OF_RANK = ("Join", "Leave", "Fence", "Vanish", "Reappear")
_OF_ANSWER = ("PutAnswer", "RefuseLate")
_OF_ENGINE = ("Collect", "EndLost", "EndTimeout")
_RESULTS = {"PutAnswer": {"all_put"}, "Collect": {"key"}, "EndLost": {"key", "missing"}}
_RESULTS["EndTimeout"] = _RESULTS["EndLost"]
_GUARDS = (
    *("KeyedRounds", "OnePerRank", "LateRefused", "FenceDooms"),
    *("FenceForgets", "OpenFences", "VanishLost", "TimeoutEnds", "PassesPending"),
)
_INVARIANTS = ("OncePerRound", "DifferentKeys", "Bounded", "Progress")
_PROPERTIES = ("LostOwesNothing",)


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    capacity: int
    max_late: int
    keys: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return self.ranks, self.capacity, self.max_late


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.ranks: int = opening["ranks"]
        self.keys: dict[str, int] = {}
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name, args, result, post = (event.get(part) for part in ("action", "args", "result", "post"))
        self.seq = check_order(event, self.of, self.seq)
        if name not in (*_OF_RANK, *_OF_ANSWER, *_OF_ENGINE):
            raise Malformed(f"{name!r} is not an action that a host can see")
        wanted = {"rank"} if name in _OF_RANK else {"rank", "key"} if name in _OF_ANSWER else set()
        args = exact_parts("args", args, wanted)
        result = exact_parts("result", result, _RESULTS.get(str(name), set()))
        post = exact_parts("post", post, {"rounds", "late"})
        rank = number(args.get("rank", 0), self.ranks)
        key = self.key(args["key"]) if "key" in args else 0
        return (name, rank, key, self.found(str(name), result), *self.after(post))

    def found(self, name: str, result: Event) -> tuple[Any, ...]:
        """Return the result."""
        if name == "PutAnswer":
            if type(result["all_put"]) is not bool:
                raise Malformed("all_put must be true or false")
            return (result["all_put"],)
        if name == "Collect":
            return (self.key(result["key"]),)
        if name in _OF_ENGINE:
            return self.key(result["key"]), self.set_of_ranks(result["missing"])
        return ()

    def after(self, post: Event) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        rounds, late = post["rounds"], post["late"]
        if not isinstance(rounds, list) or not all(isinstance(item, list) and len(item) == 3 for item in rounds):
            raise Malformed("rounds must be a list of [key, answered, without]")
        if not isinstance(late, list) or len(late) != self.ranks:
            raise Malformed("late must have a number for each rank")
        shown = tuple((self.key(key), self.set_of_ranks(a), self.set_of_ranks(w)) for key, a, w in rounds)
        return shown, tuple(number(count, 2**30) for count in late)

    def key(self, key: object) -> int:
        """Return the number of a key: 1 for the first of the run, and so on."""
        return self.keys.setdefault(json.dumps(key), len(self.keys) + 1)

    def set_of_ranks(self, ranks: object) -> frozenset[int]:
        """Return a list of ranks as a set."""
        if not isinstance(ranks, list):
            raise Malformed(f"{ranks!r} is not a list of ranks")
        return frozenset(number(rank, self.ranks) for rank in ranks)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    shape = [first.get(name) for name in ("ranks", "capacity", "max_late")]
    usable = all(type(value) is int and value >= 1 for value in shape)
    usable = usable and first.get("protocol") in PROTOCOLS and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        reason = "a run of a gate begins with Open, with v, protocol, ranks, capacity and max_late"
        return Encoded(0, 0, 0, 0, (), reason, 0)
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    ranks, capacity, max_late = (first[name] for name in ("ranks", "capacity", "max_late"))
    return Encoded(ranks, capacity, max_late, max(1, len(encoder.keys)), events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("gate/TraceGate.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    everybody = frozenset(range(runs[0].ranks))
    constants: dict[str, Any] = {
        "N": runs[0].ranks,
        "K": max(run.keys for run in runs),
        "Capacity": runs[0].capacity,
        "MaxLate": runs[0].max_late,
        "MaxIssues": 0,
        "Overlap": True,
        "Skippers": frozenset(),
        "Leavers": everybody,
        "Mortal": everybody,
        "Silent": everybody,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
