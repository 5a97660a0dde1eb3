"""Races of the ring: all schedules of a program, over the published steps and over ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fdcomm.testing import Exhaustive, explore
from tests.races.race import Race
from tests.schedules.ring_races import BOUND, OUR_BOUNDS, race

__all__ = ("RingRace",)


@dataclass(frozen=True)
class RingRace(Race):
    """One schedule fails on the published steps, none on ours."""

    shipped: Callable[..., str] = field(default=lambda _: "")
    ours: Callable[..., str] = field(default=lambda _: "")
    symptom: str = ""
    program: str = ""

    def on_shipped(self) -> str:
        """Return what went wrong on the published steps."""
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
