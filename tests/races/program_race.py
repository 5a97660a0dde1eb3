"""Races that a program shows: its schedules are run on the published or the obvious steps, and on ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fdcomm.testing import Report
from tests.races.race import Race

__all__ = ("ProgramRace", "failure_in_all", "failure_in_some")


@dataclass(frozen=True)
class ProgramRace(Race):
    """A race by the name of its program; a subclass says how that is run."""

    shipped: Callable[..., str] = field(default=lambda _: "")
    ours: Callable[..., str] = field(default=lambda _: "")
    symptom: str = ""
    program: str = ""

    def run(self, *, shipped: bool) -> str:
        """Run the program on the other steps or on ours; return what went wrong, or ""."""
        raise NotImplementedError

    def on_shipped(self) -> str:
        """Return what went wrong on the steps that are not ours."""
        return self.run(shipped=True)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        return self.run(shipped=False)


def failure_in_all(report: Report) -> str:
    """Return the failure, or that there are schedules left; "" says that none of all schedules fails."""
    if report.failure is not None:
        return report.failure.message
    return "" if report.complete else "not all schedules were explored"


def failure_in_some(report: Report) -> str:
    """Return the failure and its kind; "" says that none of the schedules that were run fails."""
    return f"{report.failure.verdict}: {report.failure.message}" if report.failure is not None else ""
