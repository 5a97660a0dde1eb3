"""The events of a recorded run, as JSON has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ("Event", "index_of", "lines_of", "renumbered", "runs_of")

Event: TypeAlias = dict[str, Any]


def lines_of(events: list[Event]) -> list[str]:
    """Return the lines of a trace file."""
    return [json.dumps(event) for event in events]


def runs_of(file: Path) -> dict[str, list[Event]]:
    """Return the runs in a trace file by their protocols, in the order in which they were opened."""
    runs: dict[str, list[Event]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        runs.setdefault(event["protocol"], []).append(event)
    return runs


def index_of(events: list[Event], name: str, fits: Callable[[Event], bool] = lambda event: True) -> int:
    """Return the index of the first event of that name that fits."""
    return next(index for index, event in enumerate(events) if event["action"] == name and fits(event))


def renumbered(events: list[Event]) -> list[Event]:
    """Number the events after Open anew, so that it is the protocol that a judge must know, and not the numbers."""
    for number, event in enumerate(events[1:], 1):
        event["seq"] = number
    return events
