"""What the tests of all programs want of their schedules."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.testing import PCT, Bound, Exhaustive, Program, RandomWalk, Report, Schedule, explore, replay

__all__ = ("every_schedule_is_right", "failure_is_found", "race_is_found", "random_schedules_are_right", "silence")


def every_schedule_is_right(program: Program, bound: Bound) -> Report:
    """See that no schedule within the bound fails."""
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, str(report)
    assert report.complete
    return report


def random_schedules_are_right(program: Program, seed: int, executions: int) -> None:
    """See that none of so many random schedules fails, of those that are even and of those with few preemptions."""
    for strategy in (RandomWalk(seed, executions), PCT(seed, executions)):
        report = explore(program, strategy, Bound(ticks=2, spurious=2))
        assert report.failure is None, f"seed {seed}: {report}"


def failure_is_found(program: Program, bound: Bound) -> Schedule:
    """Return the schedule that fails, of a program that has one within the bound."""
    report = explore(program, Exhaustive(), bound)
    assert report.failure is not None, str(report)
    return report.failure


def race_is_found(program: Program, bound: Bound, verdict: str) -> None:
    """See that a program of the published steps fails with the verdict, and again when the schedule is replayed."""
    failure = failure_is_found(program, bound)
    assert failure.verdict == verdict
    again = replay(program, failure)
    assert again.verdict == failure.verdict
    # A replay has a limit of its own to the steps, which the message of a livelock tells.
    assert again.message == failure.message or verdict == "livelock"


def silence(patch: pytest.MonkeyPatch, owner: type, method: str, condition: str) -> None:
    """Have the method wake nobody: while it runs, its object's condition notifies nobody."""
    original = getattr(owner, method)

    def quiet(self: Any, *args: Any, **named: Any) -> Any:
        real = getattr(self, condition)
        if isinstance(real, _Quiet):
            return original(self, *args, **named)
        setattr(self, condition, _Quiet(real))
        try:
            return original(self, *args, **named)
        finally:
            setattr(self, condition, real)

    patch.setattr(owner, method, quiet)


class _Quiet:
    """A condition that tells nobody."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def notify_all(self) -> None:
        """Nobody is told."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __enter__(self) -> Any:
        return self.real.__enter__()

    def __exit__(self, *exc: object) -> Any:
        return self.real.__exit__(*exc)
