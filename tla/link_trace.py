"""Has TLC judge recorded runs of links: is each a behaviour of ``link/TraceLink.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PREFIX", "judge")

PREFIX = "link."
_UNBOUNDED = 2**30
# Action -> its arguments.
_ARRIVAL = ("number", "open", "top")
_SHAPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("Begin", "Repeat", "Stale", "Refuse"), _ARRIVAL),
    "Depart": (),
    "Finish": ("number",),
    "Fence": (),
}
_SESSIONS = ("new", "open", "closed", "fenced")
_STATES = ("new", "running", "done")
_GUARDS = (
    *("Dedups", "StaleRefused", "KeepsAnswer", "Acknowledges", "EndedRemembered", "FencedTold", "StopsAtFence"),
    *("Resends", "GivesUp", "FencesSilent"),
)
_INVARIANTS = ("AtMostOnce", "Bounded", "Progress")
_PROPERTIES = ("EndedStays", "NothingAfterTheEnd")


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    window: int
    calls: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together. Calls that a run does not have change nothing in it."""
        return (self.window,)


class _Encoder:
    def __init__(self, opening: Event, window: int) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.window = window
        self.seq = 0
        self.most = 1

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name = str(event.get("action"))
        self.seq = check_order(event, self.of, self.seq)
        if name not in _SHAPES:
            raise Malformed(f"{name!r} is not an action that a host can see")
        args = self.parts("args", event.get("args"), set(_SHAPES[name]))
        post = self.parts("post", event.get("post"), {"session", "top", "known"})
        if post["session"] not in _SESSIONS:
            raise Malformed(f"there is no session that is {post['session']!r}")
        which, calls, top = self.request(args) if set(args) == set(_ARRIVAL) else (0, frozenset[int](), 0)
        if name == "Finish":
            which = self.seen(number(args["number"], _UNBOUNDED))
        known = post["known"]
        if not isinstance(known, list) or not all(self.is_state(item) for item in known):
            raise Malformed(f"known must be pairs of a number and a state, not {known}")
        after = self.seen(number(post["top"], _UNBOUNDED))
        return (name, which, calls, top, post["session"], after, frozenset((self.seen(n), s) for n, s in known))

    def request(self, args: Event) -> tuple[int, frozenset[int], int]:
        """Return a request, which must be one that a handle sends."""
        which, top = number(args["number"], _UNBOUNDED), number(args["top"], _UNBOUNDED)
        calls = args["open"]
        if not isinstance(calls, list) or sorted({number(n, _UNBOUNDED) for n in calls}) != calls:
            raise Malformed(f"open must be numbers in their order, not {calls}")
        if not calls or which not in calls or calls[0] < 1 or calls[-1] > top or len(calls) > self.window:
            raise Malformed(f"no handle sends call {which} of {top} with {calls} open")
        return which, frozenset(calls), self.seen(top)

    def seen(self, found: int) -> int:
        """Remember the highest number."""
        self.most = max(self.most, found)
        return found

    @staticmethod
    def is_state(item: object) -> bool:
        """Return True for ``[number, state]``."""
        return isinstance(item, list) and len(item) == 2 and type(item[0]) is int and item[0] > 0 and item[1] in _STATES

    @staticmethod
    def parts(what: str, found: object, wanted: set[str]) -> Event:
        """Return an object that has exactly these parts."""
        if not isinstance(found, dict) or set(found) != wanted:
            raise Malformed(f"{what} must have exactly {sorted(wanted)}, not {found}")
        return found


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    window = first.get("window")
    usable = type(window) is int and window >= 1 and str(first.get("protocol")).startswith(PREFIX)
    if first.get("action") != "Open" or not usable or first.get("v") != FORMAT:
        return Encoded(0, 0, 0, (), "a run of a link begins with Open, with v, protocol and window", 0)
    encoder = _Encoder(first, first["window"])
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(1, first["window"], encoder.most, events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("link/TraceLink.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    constants: dict[str, Any] = {
        "Calls": max(run.calls for run in runs),
        "Window": runs[0].window,
        "MaxLosses": 0,
        "MayFence": True,
        "Impatient": True,
        "ClientMortal": True,
        "HostMortal": True,
        "Closes": True,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
