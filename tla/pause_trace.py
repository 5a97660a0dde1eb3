"""Has TLC judge recorded runs of pauses: is each a behaviour of ``pause/TracePause.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.event_parts import exact_parts
from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("judge",)

_MODES = ("keep", "drain", "abort")
_INSIDE = ("Admit", "Done", "Park")
_OF_RANK = ("Join", "Leave", "Fence", *_INSIDE)
_TOLD = ("Take", "Quiet")
_OF_CLIENT = ("PauseReturns", "PauseEnded", "CallResume", "CancelPause", "ResumeReturns", "GiveUp", "Hold", "LetGo")
_POST = {"order", "phase", "mode", "quiet", "seen", "holders"}
_GUARDS = ("TakeShuts", "AllRanks", "OldOrdersDropped", "FenceFrees", "JoinsShut", "HoldBlocks", "ResumeWaits")
_INVARIANTS = ("QuietMeansShut", "PausedMeansStill", "HeldMeansPaused", "Progress")
_PROPERTIES = ("OnlyOwnerEnds",)
_MANY = 2**30


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    clients: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together."""
        return (self.ranks,)


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.ranks: int = opening["ranks"]
        self.orders = {0: ("run", 0)}
        self.clients = 1
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name, args, post = (event.get(part) for part in ("action", "args", "post"))
        self.seq = check_order(event, self.of, self.seq)
        if event.get("result") != {}:
            raise Malformed("result must be empty")
        after = () if name in _INSIDE and post == {} else self.after(exact_parts("post", post, _POST))
        if name in _OF_RANK:
            args = exact_parts("args", args, {"rank"})
            return name, number(args["rank"], self.ranks), 0, "run", 0, after
        if name in _TOLD:
            args = exact_parts("args", args, {"rank", "order"})
            order = number(args["order"], _MANY)
            phase, mode = self.orders.get(order, ("run", 0))
            return name, number(args["rank"], self.ranks), order, phase, mode, after
        if name == "CallPause":
            args = exact_parts("args", args, {"client", "mode"})
            return name, self.client(args["client"]), 0, "pause", self.mode(args["mode"]), after
        if name in _OF_CLIENT:
            args = exact_parts("args", args, {"client"})
            return name, self.client(args["client"]), 0, "run", 0, after
        raise Malformed(f"{name!r} is not an action of this protocol that can be recorded")

    def after(self, post: Event) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        if post["phase"] not in ("run", "pause"):
            raise Malformed("phase must be run or pause")
        for name in ("quiet", "seen", "holders"):
            if not isinstance(post[name], list):
                raise Malformed(f"{name} must be a list")
        if not all(isinstance(item, list) and len(item) == 2 for item in post["seen"]):
            raise Malformed("seen must be a list of [rank, order]")
        order, mode = number(post["order"], _MANY), self.mode(post["mode"])
        self.orders.setdefault(order, (post["phase"], mode))
        quiet = frozenset(number(rank, self.ranks) for rank in post["quiet"])
        seen = frozenset((number(rank, self.ranks), number(taken, _MANY)) for rank, taken in post["seen"])
        return order, post["phase"], mode, quiet, seen, frozenset(self.client(client) for client in post["holders"])

    def client(self, client: object) -> int:
        """Return the number of a client."""
        found = number(client, _MANY)
        if found < 1:
            raise Malformed("clients count from 1")
        self.clients = max(self.clients, found)
        return found

    @staticmethod
    def mode(mode: object) -> int:
        """Return the number of a mode."""
        if mode not in _MODES:
            raise Malformed(f"{mode!r} is no mode of a pause")
        return _MODES.index(str(mode))


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    ranks = first.get("ranks")
    usable = first.get("action") == "Open" and first.get("protocol") == "pause" and first.get("v") == FORMAT
    if not usable or type(ranks) is not int or ranks < 1:
        return Encoded(0, 0, (), "a run of pauses begins with Open, with v, protocol and ranks", 0)
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(ranks, encoder.clients, events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("pause/TracePause.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    everybody = frozenset(range(runs[0].ranks))
    clients = max(run.clients for run in runs)
    constants: dict[str, Any] = {
        "N": runs[0].ranks,
        "C": clients,
        "MaxJobs": _MANY,
        "MaxOrders": _MANY,
        "Modes": frozenset(range(len(_MODES))),
        "Leavers": everybody,
        "Mortal": everybody,
        "Impatient": frozenset(range(1, clients + 1)),
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
