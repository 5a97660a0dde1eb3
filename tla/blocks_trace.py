"""Has TLC judge recorded runs of block lists: is each a behaviour of ``blocks/TraceBlocks.tla``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.event_parts import exact_parts
from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "blocks"
_UNBOUNDED = 2**30
# Action -> the two parameters that the spec gets, and the part of the result.
_SHAPES: dict[str, tuple[tuple[str, ...], str]] = {
    "Allocate": (("kind", "n"), "ids"),
    "Free": (("block",), ""),
    "FreeStale": (("block", "gen"), ""),
    "Reserve": (("source", "target"), "task"),
    "Register": (("task",), ""),
    "Refuse": (("task",), "back"),
    "Handle": (("task",), "given"),
    "Settle": (("task",), ""),
    "Cancel": (("task",), ""),
    "BeginReset": ((), "told"),
    "Rebuild": ((), ""),
    "Lose": ((), "told"),
    "Close": ((), "told"),
}
_GUARDS = (
    *("AwaitsHandled", "AwaitsResults", "CountsIssuing", "LeasesEnd", "KeepsUntilResult", "TellsWaiters"),
    *("Withdraws", "SurvivesBad", "KeepsUnknown", "EndTells", "HoldsLate", "AwaitsLate", "SettlesOnce"),
)
_INVARIANTS = ("Conservation", "WritersOwn", "NobodyIsLeft", "Progress")
_PROPERTIES = ("AnswersStay", "StaleMovesNothing")
_OUTCOMES = ("ok", "failed", "cancelled")
_PHASES = ("open", "resetting", "lost", "closed")


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    device: int
    host: int
    sizes: frozenset[int]
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return self.device, self.host


class _Encoder:
    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        self.blocks: int = opening["device"] + opening["host"]
        self.sizes: set[int] = set()
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return the event as a tuple, or raise Malformed."""
        name = str(event.get("action"))
        self.seq = check_order(event, self.of, self.seq)
        if name not in _SHAPES:
            raise Malformed(f"{name!r} is not an action that a client can see")
        params, found = _SHAPES[name]
        args = exact_parts("args", event.get("args"), {*params, *(("outcome", "late") if name == "Handle" else ())})
        result = exact_parts("result", event.get("result"), {found} if found else set())
        post = exact_parts("post", event.get("post"), {"gen", "phase", "free", "leases", "tasks"})
        outcome = args.get("outcome", "")
        if name == "Handle" and outcome not in _OUTCOMES:
            raise Malformed(f"there is no outcome {outcome!r}")
        if name == "Handle" and type(args["late"]) is not bool:
            raise Malformed(f"late must be true or false, not {args['late']!r}")
        two = [self.parameter(key, args[key]) for key in params] + [int(args.get("late", False)), 0]
        if name == "Allocate":
            self.sizes |= {two[1]} - {0}
        shown = self.found(found, result.get(found))
        return (name, two[0], two[1], outcome, shown, *self.after(post))

    @staticmethod
    def parameter(key: str, value: object) -> int:
        """Return a parameter; only a target may be -1, which is none."""
        return -1 if key == "target" and _whole(value) and value == -1 else number(value, _UNBOUNDED)

    def found(self, name: str, value: object) -> frozenset[int]:
        """Return a result as a set of numbers."""
        if name == "":
            return frozenset()
        if name == "back":
            if type(value) is not bool:
                raise Malformed(f"back must be true or false, not {value!r}")
            return frozenset({int(value)})
        if name == "given" and _whole(value) and value == -1:
            return frozenset()
        if name in ("given", "task"):
            return frozenset({number(value, _UNBOUNDED)})
        return self.numbers(value)

    def after(self, post: Event) -> tuple[Any, ...]:
        """Return the variables that were recorded after the event."""
        leases = post["leases"]
        if not isinstance(leases, list) or not all(isinstance(one, list) and one for one in leases):
            raise Malformed("leases must be a list of lists of blocks")
        if leases != sorted(leases):
            raise Malformed("leases must be in order")
        if post["phase"] not in _PHASES:
            raise Malformed(f"there is no phase {post['phase']!r}")
        sets = frozenset(self.numbers(one) for one in leases)
        return (
            number(post["gen"], _UNBOUNDED),
            post["phase"],
            self.numbers(post["free"]),
            sets,
            self.numbers(post["tasks"]),
        )

    @staticmethod
    def numbers(values: object) -> frozenset[int]:
        """Return a list of numbers in their order as a set."""
        if not isinstance(values, list) or any(not _whole(value) for value in values) or values != sorted(set(values)):
            raise Malformed(f"{values!r} is not a list of numbers in their order")
        return frozenset(number(value, _UNBOUNDED) for value in values)


def _whole(value: object) -> bool:
    if type(value) is not int:
        raise Malformed(f"{value!r} is not a number")
    return True


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    usable = all(type(first.get(name)) is int and first[name] >= 0 for name in ("device", "host"))
    usable = usable and first.get("protocol") == PROTOCOL and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        return Encoded(
            0, 0, 0, frozenset(), (), "a run of blocks begins with Open, with v, protocol, device and host", 0
        )
    encoder = _Encoder(first)
    events, malformed, at = read_events(trace, encoder.event)
    return Encoded(1, first["device"], first["host"], frozenset(encoder.sizes), events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("blocks/TraceBlocks.tla", runs, _config(runs)))


def _config(runs: Sequence[Encoded]) -> str:
    constants: dict[str, Any] = {
        "Device": runs[0].device,
        "Host": runs[0].host,
        "Sizes": frozenset().union(*(run.sizes for run in runs)),
        "InPlace": True,
        "MaxTasks": _UNBOUNDED,
        "MaxGen": _UNBOUNDED,
        "Bad": frozenset(),
        "Refuses": True,
        "Cancels": True,
        "Mortal": True,
        "Closes": True,
        "Overruns": True,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
