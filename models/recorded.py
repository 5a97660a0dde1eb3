"""What the judges of recorded runs have in common: reading a run's events, and saying how one differs from the model.

A run is judged up to its first malformed event. Whoever reads an event raises `Malformed` to say what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from models.acceptance import Verdict

__all__ = (
    "Event",
    "Malformed",
    "Reading",
    "after_it",
    "check_next",
    "check_seq",
    "differing",
    "in_words",
    "not_opened",
    "read",
    "same_json",
    "with_result",
)

T = TypeVar("T")

Event: TypeAlias = dict[str, Any]


class Malformed(Exception):
    """The line is no event of the format, or the event cannot be one of this run."""


@dataclass(frozen=True)
class Reading(Generic[T]):
    """A run as far as it can be read.

    Attributes:
        events: The events before the first malformed one.
        found: What was made of each of them.
        wrong: What is wrong with the malformed one; "" when there is none.
        event: The malformed one, as a person reads it.
    """

    events: list[Event]
    found: list[T]
    wrong: str = ""
    event: str = ""

    def ended(self, verdict: Verdict) -> Verdict:
        """Return the verdict on the run: that on ``found``, or when it accepts, that the next event is malformed."""
        if self.wrong and verdict.accepted:
            return replace(verdict, accepted=False, events=len(self.found) + 1, reason=self.wrong, event=self.event)
        return verdict


def read(
    events: Iterable[Event],
    observe: Callable[[Event, int], T],
    text: Callable[[Event], str] | None = None,
    first: int = 1,
) -> Reading[T]:
    """Read events up to the first that is malformed.

    Args:
        events: The events after those that open the run.
        observe: What is made of an event, by the event and its number.
        text: An event as a person reads it; `in_words` when left out.
        first: The number of the first event.
    """
    seen: list[Event] = []
    found: list[T] = []
    for number, event in enumerate(events, first):
        try:
            found.append(observe(event, number))
        except Malformed as error:
            return Reading(seen, found, str(error), (text or in_words)(event))
        seen.append(event)
    return Reading(seen, found)


def not_opened(channel: str, opening: Event, wanted: str) -> Verdict:
    """Return the verdict on a run whose first event is not Open, or is without what it has to have."""
    return Verdict(channel, False, 1, f"the first event must be Open, with {wanted}", json.dumps(opening))


def check_seq(event: Event, number: int) -> None:
    """Malformed when the event is not the one of this number; says which it is."""
    if type(event.get("seq")) is not int or event["seq"] != number:
        raise Malformed(f"events are missing, doubled or out of order: seq is {event.get('seq')}, {number} is next")


def check_next(event: Event, number: int) -> None:
    """Malformed when the event is not the one of this number."""
    if type(event.get("seq")) is not int or event["seq"] != number:
        raise Malformed(f"events are missing, doubled or out of order: {number} is next")


def differing(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Return in words each value that was recorded otherwise than the model has it."""
    return [f"{key} = {found[key]} (the model says {value})" for key, value in expected.items() if found[key] != value]


def after_it(wrong: list[str]) -> str:
    """Return in words that an event left these values wrong; "" when there are none."""
    return f"after it {', '.join(wrong)}" if wrong else ""


def same_json(found: Any, expected: Any) -> bool:
    """Equal as JSON: to Python True is 1, and 1.0 is too."""
    return json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


def in_words(event: Event) -> str:
    """Return an event as a person reads it: its number, its action and its arguments."""
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown})"


def with_result(event: Event) -> str:
    """Return an event as a person reads it, with its result."""
    return f"{in_words(event)} -> {json.dumps(event.get('result', {}))}"
