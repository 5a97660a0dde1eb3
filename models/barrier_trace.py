"""Recorded runs of barriers (NDJSON, one event a line), judged by the model.

A file may hold channels of any protocol; those of barriers (``barriers.<group>``) are judged, one run for each group
and replica. The numbers ``seq`` are given inside the host's critical section: 1, 2, 3, ... without a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from models.acceptance import Observation, Verdict, judge
from models.barrier import Barrier
from models.barrier_state import LOST, UNSAID, Config, State, initial_state
from models.kernel import Action
from models.recorded import Event, Malformed, after_it, check_next, differing, in_words, not_opened, read
from models.recorded_lines import accept_lines

__all__ = ("PREFIX", "accept", "accept_file")

PREFIX = "barriers."
_OF_RANK = ("Join", "Leave", "Fence", "Timeout")
_WAITS = ("Arrive", "Pass", "Mismatch", "Refuse")
_ARGS = {
    **dict.fromkeys(_OF_RANK, ("rank",)),
    **dict.fromkeys(_WAITS, ("rank", "barrier", "label", "round")),
    "Abort": ("barrier",),
    "Reset": ("barrier", "abort"),
}
_POST = {"generation", "arrived", "broken", "aborts", "lost"}


def accept_file(path: str) -> list[Verdict]:
    """Judge every group of barriers in a trace file."""
    with open(path, encoding="utf-8") as lines:
        return accept(lines)


def accept(lines: Iterable[str]) -> list[Verdict]:
    """Judge every group of barriers in a trace. A line that cannot be read rejects the whole trace."""
    nothing = "the trace has no barriers: there is no Open event of any"
    return accept_lines(lines, lambda protocol: protocol.startswith(PREFIX), _accept_channel, nothing)


def _accept_channel(channel: str, events: list[Event]) -> Verdict:
    opening, *rest = events
    ranks, names = opening.get("ranks"), opening.get("barriers")
    good = type(ranks) is int and ranks >= 1 and isinstance(names, list) and names
    if opening["action"] != "Open" or not good or not all(isinstance(name, str) for name in names or ()):
        return not_opened(channel, opening, "ranks and the names of the barriers")
    assert isinstance(ranks, int)
    everybody = frozenset(range(ranks))
    labels = _labels(rest)
    config = Config(
        ranks=ranks,
        barriers=len(names or ()),
        labels=max(1, len(labels)),
        max_rounds=None,
        max_aborts=None,
        leavers=everybody,
        mortal=everybody,
    )
    reading = read(rest, lambda event, number: _observe(event, number, names or [], labels))
    return reading.ended(judge(_Named(config), [initial_state(config)], reading.found, channel))


class _Named(Barrier):
    """The model in which a wait says what the events say: one label and round at a time, not all that there may be."""

    def rounds(self, s: State) -> Iterable[int]:
        """Any round that a recorded wait may name: the model looks at how it compares with the current one."""
        most = max(s.generation) + 2
        return range(UNSAID, most + 1)


def _labels(events: Iterable[Event]) -> dict[str, int]:
    found: dict[str, int] = {}
    for event in events:
        args = event.get("args")
        label = args.get("label") if isinstance(args, dict) else None
        if isinstance(label, str):
            found.setdefault(label, len(found))
    return found


def _observe(event: Event, number: int, names: Sequence[str], labels: dict[str, int]) -> Observation[State]:
    name, args, result, post = event["action"], event.get("args"), event.get("result", {}), event.get("post")
    check_next(event, number)
    wanted = _ARGS.get(name)
    if wanted is None:
        raise Malformed(f"{name!r} is not an action that a host can see")
    if not isinstance(args, dict) or set(args) != set(wanted):
        raise Malformed(f"args of {name} must be {wanted}, not {args}")
    if result != {}:
        raise Malformed(f"{name} has no result, and this one has {result}")
    if not isinstance(post, dict) or set(post) != _POST:
        raise Malformed(f"post must have exactly {sorted(_POST)}")
    values: dict[str, int] = {}
    for key in wanted:
        values[key] = _value(key, args[key], names, labels)
    if name == "Refuse":
        del values["label"]
    if values.get("round", UNSAID) > 0 and "round" in values:
        # Rounds to come are all alike: the model enumerates only the next ones.
        values["round"] = min(values["round"], max(post["generation"], default=0) + 2)
    action = Action(name, tuple(values.items()))
    silent = Action("Crash", (("rank", values["rank"]),)) if name == "Fence" else None

    def differs(before: State, after: State) -> str:
        shown = {
            "generation": list(after.generation),
            "arrived": [[a.rank for a in there] for there in after.arrived],
            "broken": list(after.broken),
            "aborts": list(after.aborts),
            "lost": [rank for rank, status in enumerate(after.status) if status == LOST],
        }
        return after_it(differing(post, shown))

    return Observation(in_words(event), action, differs, silent)


def _value(key: str, value: object, names: Sequence[str], labels: dict[str, int]) -> int:
    if key == "barrier":
        if value not in names:
            raise Malformed(f"there is no barrier {value!r}: Open says {', '.join(names)}")
        return list(names).index(str(value))
    if key == "label":
        if not isinstance(value, str):
            raise Malformed(f"label {value!r} is not a string")
        return labels[value]
    if key == "round" and value is None:
        return UNSAID
    if type(value) is not int or value < 0:
        raise Malformed(f"{key} {value!r} is not a number from 0")
    return value
