"""Every schedule of small programs over pauses; the published steps fail, and so do ranks that make a mistake."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from fdcomm.host.pause_channel import PauseChannel
from fdcomm.jobs import RankJobs
from fdcomm.testing import Bound, replay
from tests.schedules.checks import every_schedule_is_right, failure_is_found, random_schedules_are_right, silence
from tests.schedules.pause_programs import LARGER, PROGRAMS
from tests.schedules.pause_races import RACES, explored, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    random_schedules_are_right(LARGER[name], seed, 25)


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
    silence(patch, RankJobs, "_take_next", "_changed")


def _reports_in_silence(patch: pytest.MonkeyPatch) -> None:
    """The last rank's report wakes no client."""
    silence(patch, PauseChannel, "_hear", "_writable")


def _resumes_in_silence(patch: pytest.MonkeyPatch) -> None:
    """A call that waits for the ranks to open is none that single ranks concern."""
    patch.setattr("fdcomm.host.pause_calls.Calls.watches", lambda self: contextlib.nullcontext())


def _stays_in(patch: pytest.MonkeyPatch) -> None:
    """A control that was closed does not leave the group."""
    patch.setattr(PauseChannel, "leave", lambda self, session: None)


def _leaves_paused(patch: pytest.MonkeyPatch) -> None:
    """A client does not know that its call began the pause."""
    pause = PauseChannel.pause
    patch.setattr(PauseChannel, "pause", lambda self, *args: (*pause(self, *args)[:2], False))


def _deaf(patch: pytest.MonkeyPatch) -> None:
    """A call that is given up goes on waiting, and its thread with it."""
    patch.setattr(PauseChannel, "_see_wanted", lambda self, client, operation, deadline: self._readable.wait(None))


@pytest.mark.parametrize(
    ("fault", "program"),
    [
        (_reports_early, "2 jobs"),
        (_sleeps_on, "a job is parked"),
        (_reports_in_silence, "2 jobs"),
        (_resumes_in_silence, "a job is parked"),
        (_stays_in, "a rank leaves"),
        (_leaves_paused, "a client clears"),
        (_deaf, "a wait is given up"),
    ],
)
def test_a_fault_is_found(
    fault: Callable[[pytest.MonkeyPatch], None], program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    scenario, bound = PROGRAMS[program]
    failure_is_found(scenario, Bound(preemptions=1, ticks=bound.ticks, max_steps=1500))
