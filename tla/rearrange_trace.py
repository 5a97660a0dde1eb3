"""Has TLC judge recorded runs of rearrangements: is each a behaviour of ``rearrange/TraceRearrange.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "rearrange"
_UNBOUNDED = 2**30
_OF_RANK = ("TakeLoad", "ReportOk", "ReportFailed", "Arrive", "Withdraw", "Updated")
_OF_PARTY = ("Join", "Leave", "Fence")
_OF_PEER = ("PeerReady", "PeerFailed")
_OF_NOBODY = ("Take", "BeginLoad", "DeclareLoaded", "CallOff", "Update", "Free", "EndTimeout")
_ARGS = {
    "Request": "addresses",
    **dict.fromkeys(_OF_PARTY, "party"),
    **dict.fromkeys(_OF_PEER, "peer"),
    **dict.fromkeys(_OF_RANK, "rank"),
    **dict.fromkeys(_OF_NOBODY, ""),
}
_RESULTS: dict[str, tuple[str, type]] = {
    **dict.fromkeys(("Request", "Take", "TakeLoad"), ("request", int)),
    "Arrive": ("begun", bool),
}
_POST = {"phase", "request", "outcome", "unreached", "load", "worker"}
_GUARDS = (
    *("OneAtATime", "ReportsKeyed", "AllPeers", "FailureFrees", "SwapKept"),
    *("InStep", "WaitsLimited", "FenceEnds", "TimeoutEnds"),
)
_INVARIANTS = ("TypeOK", "OneRunning", "LoadedByAll", "PeersReached", "SwapsAreRunning", "TablesKept", "Progress")
_PROPERTIES = ("SwapsTogether", "EndsOnce")


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open; ``peers``: the most addresses that were missing."""

    ranks: int
    peers: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return (self.ranks,)


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.ranks: int = opening["ranks"]
        self.peers = 0
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name, args, result, post = (event.get(part) for part in ("action", "args", "result", "post"))
        self.seq = check_order(event, self.of, self.seq)
        if not isinstance(name, str) or name not in _ARGS:
            raise Malformed(f"{name!r} is not an action that a host can see")
        wanted = _ARGS[name]
        if not isinstance(args, dict) or set(args) != {wanted} - {""}:
            raise Malformed(f"args of {name} must have {wanted or 'nothing'}, not {args}")
        limit = {"party": 2 * self.ranks + 1, "rank": self.ranks}.get(wanted, _UNBOUNDED)
        who = number(args[wanted], limit) if wanted else 0
        return (name, who, self.found(name, result), *self.after(post))

    def found(self, name: str, result: object) -> tuple[Any, ...]:
        """Return the result."""
        key, kind = _RESULTS.get(name, ("", object))
        if not isinstance(result, dict) or set(result) != {key} - {""}:
            raise Malformed(f"result of {name} must have {key or 'nothing'}, not {result}")
        if not key:
            return ()
        value = result[key]
        if type(value) is not kind:
            raise Malformed(f"{key} must be of type {kind.__name__}, not {value!r}")
        return (number(value, _UNBOUNDED) if kind is int else value,)

    def after(self, post: object) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        if not isinstance(post, dict) or set(post) != _POST:
            raise Malformed(f"post must have exactly {sorted(_POST)}")
        phase, request, outcome, unreached, load, worker = (
            post[key] for key in ("phase", "request", "outcome", "unreached", "load", "worker")
        )
        if not isinstance(unreached, list):
            raise Malformed("unreached must be a list of addresses")
        left = [number(peer, _UNBOUNDED) for peer in unreached]
        if left != sorted(set(left)):
            raise Malformed("unreached must have each address once, in their order")
        self.peers = max([self.peers, len(left)])
        words = [phase, outcome]
        for row in (load, worker):
            if not isinstance(row, list) or len(row) != self.ranks:
                raise Malformed("load and worker must have a word for each rank")
            words += row
        if not all(isinstance(word, str) for word in words):
            raise Malformed("phase, outcome, load and worker must be words")
        return phase, number(request, _UNBOUNDED), outcome, frozenset(left), tuple(load), tuple(worker)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    ranks = first.get("ranks")
    usable = type(ranks) is int and ranks >= 1 and first.get("protocol") == PROTOCOL and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        return Encoded(0, 0, (), "a run of rearrangements begins with Open, with v, protocol and ranks", 0)
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(encoder.ranks, encoder.peers, events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("rearrange/TraceRearrange.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    ranks, peers = runs[0].ranks, max(run.peers for run in runs)
    constants: dict[str, Any] = {
        "N": ranks,
        "A": peers,
        "MaxRequests": _UNBOUNDED,
        "Movers": frozenset(range(2 * ranks + 1)),
        "Failing": frozenset(range(ranks)),
        "Deaf": frozenset(range(1, peers + 1)),
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
