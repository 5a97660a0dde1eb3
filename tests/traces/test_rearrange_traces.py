"""Recorded runs of rearrangements: the model accepts what happened, and rejects what is altered."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.rearrange_runs import ACTIONS, ALTERED, Event, lines_of, random_run, real_run


def test_random_runs_are_accepted(seed: int) -> None:
    for number in range(6):
        (found,) = accept(lines_of(random_run(seed + number, 1 + number % 3, 80)))
        assert found.accepted, f"seed {seed + number}: {found}"


@pytest.fixture(scope="module")
def run() -> list[Event]:
    """What a real host has recorded."""
    return real_run()


@pytest.mark.multiproc
def test_a_real_run_is_accepted(run: list[Event]) -> None:
    assert {event["action"] for event in run} == ACTIONS | {"Open"}
    (found,) = accept(lines_of(run))
    assert found.accepted, str(found)


@pytest.mark.multiproc
def test_what_is_altered_is_rejected(run: list[Event]) -> None:
    for name, change in ALTERED.items():
        (found,) = accept(lines_of(change(run)))
        assert not found.accepted, name


def test_what_is_no_trace_of_rearrangements_is_refused() -> None:
    opening = random_run(1, 2, 1)[0]
    for change in ({"ranks": 0}, {"ranks": "2"}, {"action": "Join"}):
        (found,) = accept(lines_of([opening | change]))
        assert not found.accepted
        assert "Open" in found.reason
