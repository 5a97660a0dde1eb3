"""Has TLC judge recorded runs of ``Word.add`` and ``compare_and_set``: behaviours of ``word/TraceCounter.tla``?

A run is ``Open`` with the bounds and with the process that is killed, then what the processes noted while they had
the lock, and the value at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tla.judging import Malformed, config_of, judge_all, number, read_events, run_tlc
from tla.trace import Verdict
from tla.trace_events import FORMAT, Event

__all__ = ("PROTOCOL", "judge")

PROTOCOL = "word.add"
_WITH_VALUE = ("LoadOld", "StoreSum", "StoreIf")
_KEYS = {"v", "protocol", "dp", "action"}
_MAX = 2**31
_INVARIANTS = ("TypeOK", "NothingLost", "Returns", "Progress")


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is its number of processes; 0 when there is no usable Open."""

    ranks: int
    adders: int
    adds: int
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return self.ranks, self.adders, self.adds


def _encode(trace: Sequence[Event]) -> Encoded:
    first = trace[0] if trace else {}
    shape = [first.get(name) for name in ("adders", "comparers", "adds", "victim")]
    usable = all(type(value) is int and value >= 0 for value in shape) and min(first["adders"], first["adds"]) >= 1
    usable = usable and first["victim"] < first["adders"] + first["comparers"]
    if first.get("action") != "Open" or not usable or (first.get("v"), first.get("protocol")) != (FORMAT, PROTOCOL):
        reason = "a run of a word begins with Open, with v, protocol, adders, comparers, adds and victim"
        return Encoded(0, 0, 0, (), reason, 0)
    ranks, of, victim = first["adders"] + first["comparers"], (FORMAT, PROTOCOL, first.get("dp")), first["victim"]

    def event(found: Event) -> tuple[Any, ...]:
        name, keys = found.get("action"), set(_KEYS)
        if name != "End":
            keys.add("process")
        if name == "End" or name in _WITH_VALUE:
            keys.add("value")
        if name not in (*_WITH_VALUE, "Lock", "Unlock", "End"):
            raise Malformed(f"{name!r} is not an action that a process notes")
        if set(found) != keys or (found["v"], found["protocol"], found["dp"]) != of:
            raise Malformed(f"{name} has exactly {sorted(keys)}, and v, protocol and dp are {of}")
        value = number(found["value"], _MAX) if "value" in keys else -1
        return name, number(found["process"], ranks) if "process" in keys else 0, value, victim

    events, malformed, at = read_events(trace, event)
    return Encoded(ranks, first["adders"], first["adds"], events, malformed, at)


def judge(traces: Sequence[Sequence[Event]]) -> list[Verdict]:
    """Return one verdict for each run, in order. RunError when TLC cannot decide."""
    return judge_all(traces, _encode, lambda runs: run_tlc("word/TraceCounter.tla", runs, _config(runs[0])))


def _config(run: Encoded) -> str:
    constants: dict[str, Any] = {
        "Adders": run.adders,
        "Comparers": run.ranks - run.adders,
        "Adds": run.adds,
        "Mortal": frozenset(range(run.ranks)),
        "Locked": True,
        "DeathFrees": True,
    }
    return config_of(constants, _INVARIANTS, ())
