"""B28, P5.4: a thread is stopped between two bytecodes of +=, in every way that there is."""

from __future__ import annotations

from dataclasses import dataclass

from fdcomm.testing import Report, replay
from tests.races.race import Race
from tests.schedules.pause_counter import OurCounter, ShippedCounter, explored, program


@dataclass(frozen=True)
class CounterRace(Race):
    """Every schedule of one thread that begins a task and one that ends another, instruction by instruction."""

    def on_shipped(self) -> str:
        """Return what went wrong on the published counter."""
        return _failure(explored(ShippedCounter))

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        report = explored(OurCounter)
        return _failure(report) or ("" if report.complete and report.executions > 20 else str(report))


def _failure(report: Report) -> str:
    return report.failure.message if report.failure is not None else ""


RACE = CounterRace(("B28", "P5.4"), lambda _: "", lambda _: "", "1 task runs, and the counter is", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""


def test_the_schedule_fails_again() -> None:
    report = explored(ShippedCounter)
    assert report.failure is not None, str(report)
    assert replay(program(ShippedCounter), report.failure).message == report.failure.message
