"""Has TLC judge recorded runs of mailboxes: is each a behaviour of ``mailbox/TraceMailbox.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.event_parts import exact_parts
from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "mailbox"
_UNBOUNDED = 2**30
# Action -> its arguments.
_SHAPES: dict[str, tuple[str, ...]] = {
    "Handle": ("request", "client"),
    "Put": ("request", "last"),
    "Sent": ("request",),
    "Lost": ("request",),
    "Late": ("request",),
    "Expire": ("request",),
    "Close": (),
}
_STAGES = ("open", "over", "lost", "late", "expired", "closed")
_GUARDS = (
    *("OneSender", "LooksAgain", "FirstOwner", "Mandatory", "Bounds", "Expires", "EndedRefused", "FlushEnds"),
    "TellsUnsent",
)
_INVARIANTS = ("InOrderOnce", "OneClient", "NothingVanishes", "Bounded", "FinishedIsOver", "Progress")
_PROPERTIES = ("EndedStays",)


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    capacity: int
    requests: int
    clients: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together. Requests and clients that a run does not have change nothing in it."""
        return (self.capacity,)


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.seq = 0
        self.most = {"request": 0, "client": 0}

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name = str(event.get("action"))
        self.seq = check_order(event, self.of, self.seq)
        if name not in _SHAPES:
            raise Malformed(f"{name!r} is not an action that a server can see")
        args = exact_parts("args", event.get("args"), set(_SHAPES[name]))
        post = exact_parts("post", event.get("post"), {"stage", "cached", "flying", "kept"})
        if post["stage"] not in _STAGES:
            raise Malformed(f"there is no stage {post['stage']!r}")
        two = [self.argument(key, args[key]) for key in _SHAPES[name]] + [0, 0]
        after = (number(post[key], _UNBOUNDED) for key in ("cached", "flying", "kept"))
        return (name, two[0], two[1], post["stage"], *after)

    def argument(self, key: str, value: object) -> int:
        """Return an argument. Requests and clients are numbered in the order in which they come."""
        found = number(value, _UNBOUNDED)
        if key == "last":
            if found > 1:
                raise Malformed(f"last must be 0 or 1, not {found}")
            return found
        if not 1 <= found <= self.most[key] + 1:
            raise Malformed(f"{key} {found} does not follow {self.most[key]}")
        self.most[key] = max(found, self.most[key])
        return found


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    capacity = first.get("capacity")
    usable = type(capacity) is int and capacity >= 0 and first.get("protocol") == PROTOCOL and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        return Encoded(0, 0, 0, 0, (), "a run of a mailbox begins with Open, with v, protocol and capacity", 0)
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(1, first["capacity"], encoder.most["request"], encoder.most["client"], events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("mailbox/TraceMailbox.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    constants: dict[str, Any] = {
        "Requests": max(run.requests for run in runs),
        "Clients": max(run.clients for run in runs),
        "MaxItems": _UNBOUNDED,
        "Capacity": runs[0].capacity,
        "Mortal": frozenset(),
        "Slow": True,
        "Idle": True,
        "Closes": True,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
