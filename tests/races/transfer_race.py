"""Races of transfer tasks: a program on the published steps and on ours."""

from __future__ import annotations

from dataclasses import dataclass

from tests.races.program_race import ProgramRace, failure_in_some
from tests.schedules.transfer_races import RACES, explored

__all__ = ("TransferRace", "transfer_race")


@dataclass(frozen=True)
class TransferRace(ProgramRace):
    """One schedule fails on the published steps, none that was run fails on ours."""

    def run(self, *, shipped: bool) -> str:
        """Explore the schedules."""
        return failure_in_some(explored(self.program, shipped=shipped))


def transfer_race(program: str) -> TransferRace:
    """Return the race of that program."""
    return TransferRace((program,), symptom=RACES[program][2], program=program)
