"""Races of the ring: all schedules of a program, over the published steps and over ours."""

from __future__ import annotations

from dataclasses import dataclass

from fdcomm.testing import Exhaustive, explore
from tests.races.program_race import ProgramRace, failure_in_all
from tests.schedules.ring_races import BOUND, OUR_BOUNDS, race

__all__ = ("RingRace",)


@dataclass(frozen=True)
class RingRace(ProgramRace):
    """One schedule fails on the published steps, none on ours."""

    def run(self, *, shipped: bool) -> str:
        """Explore all schedules."""
        bound = BOUND if shipped else OUR_BOUNDS.get(self.program, BOUND)
        return failure_in_all(explore(race(self.program, shipped=shipped), Exhaustive(), bound))
