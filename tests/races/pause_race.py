"""Races of pauses: every schedule of a program, on the published steps and on ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.races.race import Race
from tests.schedules.pause_races import RACES, explored

__all__ = ("PauseRace", "pause_race")


@dataclass(frozen=True)
class PauseRace(Race):
    """One schedule fails on the published steps, none that was run fails on ours."""

    shipped: Callable[..., str] = field(default=lambda _: "")
    ours: Callable[..., str] = field(default=lambda _: "")
    symptom: str = ""
    program: str = ""

    def on_shipped(self) -> str:
        """Return what went wrong on the published steps."""
        return _failure(self.program, shipped=True)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        return _failure(self.program, shipped=False)


def pause_race(program: str, *others: str) -> PauseRace:
    """Return the race of that program; ``others`` are races that it shows too. Its name begins with the race's."""
    return PauseRace((program.partition(" ")[0], *others), symptom=RACES[program][2], program=program)


def _failure(program: str, *, shipped: bool) -> str:
    report = explored(program, shipped=shipped)
    return f"{report.failure.verdict}: {report.failure.message}" if report.failure is not None else ""
