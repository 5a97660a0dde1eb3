"""Races of transfer tasks: a program on the published steps and on ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.races.race import Race
from tests.schedules.transfer_races import RACES, explored

__all__ = ("TransferRace", "transfer_race")


@dataclass(frozen=True)
class TransferRace(Race):
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


def transfer_race(program: str) -> TransferRace:
    """Return the race of that program."""
    return TransferRace((program,), symptom=RACES[program][2], program=program)


def _failure(program: str, *, shipped: bool) -> str:
    report = explored(program, shipped=shipped)
    return f"{report.failure.verdict}: {report.failure.message}" if report.failure is not None else ""
