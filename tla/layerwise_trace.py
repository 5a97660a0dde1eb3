"""Has TLC judge recorded runs of layer-wise senders: is each a behaviour of ``layerwise/TraceLayerwise.tla``?

Steps are numbers below 2^32, more than TLC can hold. Only their order counts, and only within a slot: the spec gets
the place of each step among those that the run mentions for the slot. Of slots it counts only which are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from tla.judging import Malformed, check_order, config_of, judge_all, number, read_events, run_tlc
from tla.messages import Result
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "layerwise"
Where: TypeAlias = tuple[int, int]

_SHAPE = ("slots", "layers", "capacity", "modulus")
_ARGS = {
    "OnProgress": ("slot", "step", "layer"),
    "OnCacheInfo": ("slot", "step"),
    "NextReady": (),
    "OnEnd": ("slot", "step"),
    "ExpireTask": ("slot", "step"),
    "ExpireEarly": ("slot",),
    "NextDone": (),
}
_RESULTS = {
    "OnCacheInfo": ("ready", "failed"),
    "NextReady": ("slot", "step", "first", "last"),
    "OnEnd": ("ended",),
    "ExpireEarly": ("step",),
    "NextDone": ("slot", "step", "sent", "failed"),
}
_FOUND = ("first", "last", "sent", "ready", "failed", "ended")
_TRUTHS = ("failed", "ended")
_MOST = 2**31 - 1  # TLC's integers
_GUARDS = (
    *("StepTagged", "SerialSteps", "KeepsEarly", "LatestWins", "EndForgets", "EndKeepsNewer"),
    *("GoneStaysGone", "ExpiresEarly", "ExpiresTask", "AgreedOrder", "FailedTakePart"),
)
_INVARIANTS = ("TypeOK", "NeverUncomputed", "EachOnce", "NoLeftover", "OneFate", "Bounded", "Progress")
_PROPERTIES = ("NoLayerTwice", "EarlyKept", "FailsAlone")


@dataclass(frozen=True)
class Encoded:
    """A run. ``ranks`` is 0 when there is no usable Open; ``steps``: of each slot that it mentions, in their order."""

    ranks: int
    layers: int
    capacity: int
    steps: dict[int, list[int]]
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return (self.layers,)

    def numbered(self, slots: int) -> Encoded:
        """Return the run with tasks as TLC wants them, where ``slots`` is at least the number of slots."""
        places = {slot: place for place, slot in enumerate(self.steps)}
        tasks = {
            (slot, step): number * slots + places[slot] + 1
            for slot, known in self.steps.items()
            for number, step in enumerate(known)
        }
        return replace(self, events=tuple(self._event(tasks, places, *event) for event in self.events))

    def _event(
        self, tasks: dict[Where, int], places: dict[int, int], name: str, args: Event, result: Event
    ) -> tuple[Any, ...]:
        slot: int = args.get("slot", 0)
        number: int = args.get("layer", self.capacity)
        found = tuple(result[key] for key in _FOUND if key in result)
        if "step" in result:  # 0: a task that the run does not mention
            found = (tasks.get((result.get("slot", slot), result["step"]), 0), *found)
        return name, tasks.get((slot, args.get("step", -1)), 0), places.get(slot, 0), number, found


class _Reader:
    """Checks the events of a run, and keeps the steps that it mentions."""

    def __init__(self, opening: Event) -> None:
        self.of = (opening.get("v"), opening.get("protocol"), opening.get("dp"))
        slots, self.layers, self.capacity, self.modulus = (opening[name] for name in _SHAPE)
        self.limits = {"slot": slots, "step": self.modulus, "layer": self.layers}
        self.steps: dict[int, list[int]] = {}  # of each slot that is mentioned, in the order of serial numbers
        self.seq = 0

    def event(self, event: Event) -> tuple[Any, ...]:
        """Return action, args and result, or raise Malformed."""
        name, args, result = (event.get(part) for part in ("action", "args", "result"))
        self.seq = check_order(event, self.of, self.seq)
        if not isinstance(name, str) or name not in _ARGS:
            raise Malformed(f"{name!r} is not an action")
        self.parts(name, "args", args, _ARGS[name])
        self.parts(name, "result", result, _RESULTS.get(name, ()))
        if "slot" in _ARGS[name]:
            self.steps.setdefault(event["args"]["slot"], [])
        if "step" in _ARGS[name]:
            self.mention(event["args"]["slot"], event["args"]["step"])
        return name, args, result

    def parts(self, name: str, what: str, found: object, wanted: tuple[str, ...]) -> None:
        """Check an object that must have exactly these parts."""
        if not isinstance(found, dict) or set(found) != set(wanted):
            raise Malformed(f"{what} of {name} must have {', '.join(wanted) or 'nothing'}, not {found}")
        for key, value in found.items():
            if key not in _TRUTHS:
                number(value, self.limits.get(key, _MOST))
            elif type(value) is not bool:
                raise Malformed(f"{key} must be true or false, not {value!r}")

    def mention(self, slot: int, step: int) -> None:
        """Keep a step of a slot. All of one slot must be less than half of the modulus apart."""
        known = self.steps[slot]
        if step in known:
            return
        place = sum(self.later(step, other) for other in known)
        known.insert(place, step)
        ordered = all(self.later(after, before) for before, after in pairwise(known))
        if not ordered or (len(known) > 1 and not self.later(known[-1], known[0])):
            known.remove(step)
            raise Malformed(f"step {step} of slot {slot} is too far from the others to have an order")

    def later(self, a: int, b: int) -> bool:
        """Is step a later than step b?"""
        return bool(0 < 2 * ((a - b) % self.modulus) < self.modulus)


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    usable = all(type(first.get(name)) is int and first[name] >= 1 for name in _SHAPE)
    usable = usable and max(first["layers"], first["capacity"]) <= _MOST
    usable = usable and first.get("protocol") == PROTOCOL and first.get("v") == FORMAT
    if first.get("action") != "Open" or not usable:
        reason = f"a run of a sender begins with Open, with v, protocol, {', '.join(_SHAPE)}"
        return Encoded(0, 0, 0, {}, (), reason, 0)
    reader = _Reader(first)
    events, malformed, at = read_events(trace, reader.event)
    return Encoded(1, reader.layers, reader.capacity, reader.steps, events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, _run)


def _run(runs: Sequence[Encoded]) -> Result:
    slots = max([1, *(len(run.steps) for run in runs)])
    passes = max([1, *(len(known) for run in runs for known in run.steps.values())])
    numbered = [run.numbered(slots) for run in runs]
    return run_tlc("layerwise/TraceLayerwise.tla", numbered, _config(runs, slots, slots * passes))


def _config(runs: Sequence[Encoded], slots: int, tasks: int) -> str:
    constants: dict[str, Any] = {
        "N": 1,
        "T": tasks,
        "S": slots,
        "L": runs[0].layers,
        "Capacity": max(run.capacity for run in runs),
        # The steps wrap in every run.
        "Modulus": 2 * tasks + 1,
        "First": 2 * tasks,
        "Lost": frozenset(),
        "Aborted": frozenset(range(1, tasks + 1)),
        "Expiry": True,
        **dict.fromkeys(_GUARDS, True),
    }
    return config_of(constants, _INVARIANTS, _PROPERTIES)
