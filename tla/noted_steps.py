"""Runs of steps that processes noted themselves, for TLC: `Open` with its bounds, and then who did what."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tla.judging import Malformed
from tla.trace_events import Event

__all__ = ("Encoded", "noted")

_KEYS = {"v", "protocol", "dp", "action", "who", "value"}


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    bounds: tuple[int, ...]
    events: tuple[tuple[Any, ...], ...]
    malformed: str = ""
    malformed_at: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs of one shape are judged together: constants are the same for all runs of one start."""
        return self.bounds


def noted(event: Event, of: tuple[object, ...], actions: Collection[str]) -> tuple[str, Any, Any]:
    """Return the action, who took it and the value. ``of`` is what all events of the run say."""
    if set(event) != _KEYS or (event["v"], event["protocol"], event["dp"]) != of:
        raise Malformed(f"an event has exactly {sorted(_KEYS)}, and v, protocol and dp are {of}")
    if event["action"] not in actions:
        raise Malformed(f"{event['action']!r} is not an action that a process notes")
    return event["action"], event["who"], event["value"]
