"""Steps that the processes of a run noted themselves: an action, who took it, and what was loaded or stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from models.acceptance import Observation
from models.kernel import Action
from models.recorded import Event, Malformed

__all__ = ("LINE", "differs", "noted", "observed")

S = TypeVar("S", bound=tuple[Any, ...])

LINE = ("v", "protocol", "dp")
"""What every event of a run has alike."""


def noted(event: Event, opening: Event) -> tuple[Any, Any, Any]:
    """Return the action, who took it and the value. Malformed when there is anything else, or of another run."""
    wanted = {"action", "who", "value", *LINE}
    if set(event) != wanted or any(event[key] != opening.get(key) for key in LINE):
        raise Malformed(f"an event has exactly {sorted(wanted)}, and v, protocol and dp are those of Open")
    return event["action"], event["who"], event["value"]


def observed(event: Event, action: Action, check: Callable[[S, S], object] | None) -> Observation[S]:
    """Return a step, with what the model says of the value that was noted; without ``check`` it says nothing."""
    value = event["value"]
    return Observation(
        json.dumps(event), action, lambda before, after: differs(check(before, after), value) if check else ""
    )


def differs(found: object, value: object) -> str:
    """Return in words that the model has found something else than was noted; "" when it has not."""
    return "" if found == value else f"the model says {found}, and {value} was noted"
