"""Has TLC judge recorded runs of transfer tasks: is each a behaviour of ``transfer/TraceTransfer.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.event_parts import exact_parts, ordered_ranks
from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "transfer"
_UNBOUNDED = 2**30
_RANK, _CLIENT, _TASK = {"rank"}, {"client"}, {"rank", "number"}
# Action -> the parts of args, and the part of result.
_SHAPES: dict[str, tuple[set[str], str]] = {
    **dict.fromkeys(("Join", "Leave", "Fence", "Vanish", "Reappear"), (_RANK, "")),
    **dict.fromkeys(("Accept", "Refuse", "Return", "BackOff"), (_RANK, "")),
    **dict.fromkeys(("Acknowledge", "Gone"), (_CLIENT, "")),
    **dict.fromkeys(("ReportOk", "ReportFailed", "Overdue", "Settle"), (_TASK, "")),
    "Issue": ({"client", "kind"}, "number"),
    "Withdraw": (_CLIENT, "numbers"),
    "Clear": (set(), "numbers"),
    "Abandon": ({"number"}, ""),
    "HandOut": (_CLIENT, "number"),
    "Settled": ({"client", "number"}, ""),
    "Start": (set(), "number"),
}
_GUARDS = (
    *("Agreed", "RefusalFrees", "StartCounts", "DoneAfterReport", "WithdrawTells"),
    *("KeepsStarted", "FailureTold", "FenceFrees", "EndedStays", "InOrder"),
    *("OverdueHeld", "AbandonHolds", "FenceSettles", "DoneAfterSettle"),
)
_INVARIANTS = ("OneResult", "OncePerRank", "CancelledUntouched", "OkIsWhole", "Bounded", "Progress")
_PARTS = {"issued", "queued", "started", "votes", "results", "lost", "busy", "held"}


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    capacity: int
    clients: int
    kinds: int
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
        self.clients = self.kinds = 1

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name = str(event.get("action"))
        self.seq = check_order(event, self.of, self.seq)
        if name not in _SHAPES:
            raise Malformed(f"{name!r} is not an action that a host can see")
        wanted, answer = _SHAPES[name]
        args = exact_parts("args", event.get("args"), wanted)
        result = exact_parts("result", event.get("result"), {answer} - {""})
        post = exact_parts("post", event.get("post"), _PARTS)
        rank = number(args.get("rank", 0), self.ranks)
        client = number(args.get("client", 0), _UNBOUNDED)
        kind = number(args.get("kind", 0), _UNBOUNDED)
        task = number(args.get("number", 0), _UNBOUNDED)
        self.clients, self.kinds = max(self.clients, client), max(self.kinds, kind)
        said = self.numbers(result[answer] if answer == "numbers" else [result[answer]] if answer else [])
        return (name, client if "client" in wanted else rank, kind or task, said, *self.after(post))

    def after(self, post: Event) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        started, results, votes = post["started"], post["results"], post["votes"]
        busy, held = post["busy"], post["held"]
        for what, rows, size in (
            ("started", started, 4),
            ("results", results, 2),
            ("busy", busy, 2),
            ("held", held, 2),
        ):
            if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == size for row in rows):
                raise Malformed(f"{what} must be a list of lists of {size}")
            if [row[0] for row in rows] != sorted({number(row[0], _UNBOUNDED) for row in rows}):
                raise Malformed(f"{what} must be in order")
        if not isinstance(votes, list) or len(votes) != self.ranks or not set(map(str, votes)) <= {"none", "yes", "no"}:
            raise Malformed("votes must have none, yes or no for each rank")
        return (
            number(post["issued"], _UNBOUNDED),
            self.numbers(post["queued"]),
            frozenset((row[0], *(ordered_ranks(ranks, self.ranks) for ranks in row[1:])) for row in started),
            tuple(votes),
            frozenset((row[0], self.posted(row[1])) for row in results),
            ordered_ranks(post["lost"], self.ranks),
            frozenset((row[0], ordered_ranks(row[1], self.ranks)) for row in busy),
            frozenset((row[0], frozenset(self.numbers(row[1]))) for row in held),
        )

    @staticmethod
    def numbers(found: object) -> tuple[int, ...]:
        """Return a list of numbers as a sequence."""
        if not isinstance(found, list):
            raise Malformed(f"{found!r} is not a list of numbers")
        return tuple(number(value, _UNBOUNDED) for value in found)

    @staticmethod
    def posted(found: object) -> tuple[tuple[int, str], ...]:
        """Return a client's results as a sequence."""
        if not isinstance(found, list) or not all(isinstance(row, list) and len(row) == 2 for row in found):
            raise Malformed(f"{found!r} is not a list of [number, state]")
        return tuple((number(row[0], _UNBOUNDED), str(row[1])) for row in found)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    shape = [first.get(name) for name in ("ranks", "capacity")]
    usable = all(type(value) is int and value >= 1 for value in shape)
    usable = usable and first.get("protocol") == PROTOCOL and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        return Encoded(0, 0, 1, 1, (), "a run of transfer begins with Open, with v, protocol, ranks and capacity", 0)
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(first["ranks"], first["capacity"], encoder.clients, encoder.kinds, events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("transfer/TraceTransfer.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    """Everybody may do everything; there are as many clients and kinds as the runs name."""
    everybody = frozenset(range(runs[0].ranks))
    clients = max(run.clients for run in runs)
    constants: dict[str, Any] = {
        "N": runs[0].ranks,
        "C": clients,
        "Kinds": max(run.kinds for run in runs),
        "MaxIssued": _UNBOUNDED,
        "Capacity": runs[0].capacity,
        "MaxPauses": 0,
        **dict.fromkeys(("Leavers", "Mortal", "Silent", "Failing", "Slow"), everybody),
        **dict.fromkeys(("Frail", "Impatient"), frozenset(range(1, clients + 1))),
        "Hasty": True,
        "Inside": False,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, ("StartsInOrder", "EndStays"))
