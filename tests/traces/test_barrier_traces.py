"""Recorded runs of barriers: both judges accept what happened, and reject what is altered, at the same event."""

from __future__ import annotations

import pytest

from fdcomm.trace import BARRIER_EVENTS
from models.barrier_trace import accept
from tests.traces.barrier_runs import ALTERED, lines_of, random_run, real_runs
from tests.traces.both_judges import judge_both
from tests.traces.events import Event
from tests.traces.schema import SCHEMA, problem
from tla.barrier_trace import judge

pytestmark = pytest.mark.tlc

# A run of the model that has every action, so that each can be altered.
SEED = 7


def _whole() -> list[Event]:
    for seed in range(SEED, SEED + 200):
        run = random_run(seed, 2, 80)
        if {"Arrive", "Pass", "Fence", "Abort", "Reset", "Refuse", "Mismatch"} <= {event["action"] for event in run}:
            return run
    raise AssertionError("no seed gives a run with every action")


def test_random_runs_are_accepted_by_both(seed: int) -> None:
    runs = [random_run(seed + number, 2 + number % 2, 60) for number in range(6)]
    judge_both(accept, judge, runs, {}, seed)


@pytest.mark.multiproc
def test_real_runs_are_accepted_by_both() -> None:
    runs = real_runs()
    actions = {event["action"] for run in runs for event in run}
    assert actions == {"Open", *BARRIER_EVENTS}
    assert [text for run in runs for event in run if (text := problem(event, SCHEMA))] == []
    judge_both(accept, judge, runs, {})


def test_what_is_altered_is_rejected_by_both() -> None:
    run = _whole()
    judge_both(accept, judge, [], {name: change(run) for name, change in ALTERED.items()})


def test_what_is_no_trace_of_barriers_is_refused() -> None:
    (verdict,) = accept([])
    assert not verdict.accepted
    (verdict,) = accept(["{"])
    assert "not JSON" in verdict.reason
    run = random_run(SEED, 2, 5)
    (verdict,) = accept(lines_of(run[1:]))
    assert "must be Open" in verdict.reason
    assert not judge([run[1:]])[0].accepted
