"""Races of pauses: every schedule of a program, on the published steps and on ours."""

from __future__ import annotations

from dataclasses import dataclass

from tests.races.program_race import ProgramRace, failure_in_some
from tests.schedules.pause_races import RACES, explored

__all__ = ("PauseRace", "pause_race")


@dataclass(frozen=True)
class PauseRace(ProgramRace):
    """One schedule fails on the published steps, none that was run fails on ours."""

    def run(self, *, shipped: bool) -> str:
        """Explore the schedules."""
        return failure_in_some(explored(self.program, shipped=shipped))


def pause_race(program: str, *others: str) -> PauseRace:
    """Return the race of that program; ``others`` are races that it shows too. Its name begins with the race's."""
    return PauseRace((program.partition(" ")[0], *others), symptom=RACES[program][2], program=program)
