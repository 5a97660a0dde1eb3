"""Races of the meeting: all schedules of a program, over the obvious steps and over ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fdcomm.testing import Exhaustive, explore
from tests.races.race import Race
from tests.schedules.meeting_races import BOUND, OUR_BOUNDS, race

__all__ = ("MeetingRace",)


@dataclass(frozen=True)
class MeetingRace(Race):
    """One schedule fails on the obvious steps, none on ours."""

    shipped: Callable[..., str] = field(default=lambda _: "")
    ours: Callable[..., str] = field(default=lambda _: "")
    symptom: str = ""
    program: str = ""

    def on_shipped(self) -> str:
        """Return what went wrong on the obvious steps."""
        return _explored(self.program, shipped=True)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        return _explored(self.program, shipped=False)


def _explored(name: str, *, shipped: bool) -> str:
    bound = BOUND if shipped else OUR_BOUNDS.get(name, BOUND)
    report = explore(race(name, shipped=shipped), Exhaustive(), bound)
    if report.failure is not None:
        return report.failure.message
    return "" if report.complete else "not all schedules were explored"
