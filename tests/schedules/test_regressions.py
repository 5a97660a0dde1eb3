"""Kept schedules: each fails on the published steps as it says, is minimal, and has no way to fail on ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdcomm.testing import PCT, Exhaustive, Schedule, explore, replay, shrink
from tests.schedules.shipped_program import RACES, race

FOLDER = Path(__file__).parent / "regressions"


def test_every_race_has_a_schedule() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(RACES)


@pytest.mark.parametrize("name", RACES)
def test_the_published_steps_fail_under_the_kept_schedule(name: str) -> None:
    schedule = Schedule.load(FOLDER / f"{name}.json")
    assert (schedule.constants["race"], schedule.verdict) == (name, RACES[name][2])
    program = race(name, shipped=True)
    outcome = replay(program, schedule)
    assert (outcome.verdict, outcome.message) == (schedule.verdict, schedule.message), "\n".join(outcome.lines)
    assert shrink(program, schedule).choices == schedule.choices, "it is not minimal any more: keep the shorter one"


@pytest.mark.parametrize("name", RACES)
def test_ours_holds_under_the_kept_schedule_and_under_every_other(name: str) -> None:
    schedule = Schedule.load(FOLDER / f"{name}.json")
    program = race(name, shipped=False)
    outcome = replay(program, schedule, strict=False)
    assert not outcome.failed, "\n".join((outcome.message, *outcome.lines))
    report = explore(program, Exhaustive())
    assert report.failure is None, str(report)
    assert report.complete


@pytest.mark.parametrize("name", RACES)
def test_the_races_are_found_anew(name: str, seed: int) -> None:
    for strategy in (Exhaustive(), PCT(seed, 5000)):
        report = explore(race(name, shipped=True), strategy)
        assert report.failure is not None, f"{type(strategy).__name__}, seed {seed}: {report}"
        assert report.failure.verdict == RACES[name][2]
