"""Every schedule of small programs over pauses; the published steps fail, and so do ranks that make a mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fdcomm.host.pause_channel import PauseChannel
from fdcomm.jobs import RankJobs
from fdcomm.testing import PCT, Bound, Exhaustive, RandomWalk, explore, replay
from tests.schedules.pause_programs import LARGER, PROGRAMS
from tests.schedules.pause_races import RACES, explored, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, str(report)
    assert report.complete


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    for strategy in (RandomWalk(seed, 25), PCT(seed, 25)):
        report = explore(LARGER[name], strategy, Bound(ticks=2, spurious=2))
        assert report.failure is None, f"seed {seed}: {report}"


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    shipped = explored(name, shipped=True)
    assert shipped.failure is not None, str(shipped)
    assert RACES[name][2] in f"{shipped.failure.verdict} {shipped.failure.message}"
    assert replay(race(name, shipped=True), shipped.failure).verdict == shipped.failure.verdict
    ours = explored(name, shipped=False)
    assert ours.failure is None, str(ours)


def _reports_early(patch: pytest.MonkeyPatch) -> None:
    """A rank says that it is quiet when its gate is shut."""
    patch.setattr("fdcomm.core.rank_gate.RankGate.quiet", property(lambda gate: gate.shut))


def _sleeps_on(patch: pytest.MonkeyPatch) -> None:
    """A rank that takes an order wakes nobody."""
    take = RankJobs._take_next

    def silent(self: Any) -> bool:
        changed = self._changed
        self._changed = _Quiet(changed)
        try:
            return take(self)
        finally:
            self._changed = changed

    patch.setattr(RankJobs, "_take_next", silent)


def _stays_in(patch: pytest.MonkeyPatch) -> None:
    """A control that was closed does not leave the group."""
    patch.setattr(PauseChannel, "leave", lambda self, session: None)


class _Quiet:
    """A condition that tells nobody."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def notify_all(self) -> None:
        """Nobody is told."""

    def __enter__(self) -> Any:
        return self.real.__enter__()

    def __exit__(self, *exc: object) -> Any:
        return self.real.__exit__(*exc)


@pytest.mark.parametrize(
    ("fault", "program"),
    [
        (_reports_early, "2 jobs"),
        (_sleeps_on, "a job is parked"),
        (_stays_in, "a rank leaves"),
    ],
)
def test_a_fault_is_found(
    fault: Callable[[pytest.MonkeyPatch], None], program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    scenario, bound = PROGRAMS[program]
    report = explore(scenario, Exhaustive(), Bound(preemptions=1, ticks=bound.ticks, max_steps=1500))
    assert report.failure is not None, str(report)
