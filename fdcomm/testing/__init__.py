"""Tools for testing concurrent code that takes its threads, time and shared words from :mod:`fdcomm.runtime`."""

from __future__ import annotations

from fdcomm.testing.controlled import ControlledRuntime
from fdcomm.testing.explore import Program, Report, Scenario, explore, replay, shrink
from fdcomm.testing.schedule import TICK, Bound, NondeterminismError, Outcome, Schedule, wake
from fdcomm.testing.strategies import PCT, Exhaustive, Indexed, RandomWalk, Replay

__all__ = (
    "PCT",
    "TICK",
    "Bound",
    "ControlledRuntime",
    "Exhaustive",
    "Indexed",
    "NondeterminismError",
    "Outcome",
    "Program",
    "RandomWalk",
    "Replay",
    "Report",
    "Scenario",
    "Schedule",
    "explore",
    "replay",
    "shrink",
    "wake",
)
