"""Recorded runs of gates: both judges accept what happened, and reject what is altered, at the same event."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import judge_both
from tests.traces.events import Event
from tests.traces.gate_runs import ACTIONS, ALTERED, is_whole, lines_of, random_run, real_runs
from tla.gate_trace import judge

pytestmark = pytest.mark.tlc


def _whole() -> list[Event]:
    """A run of the model that has every action, so that each can be altered."""
    for seed in range(7, 207):
        run = random_run(seed, 2, 80)
        if is_whole(run):
            return run
    raise AssertionError("no seed gives a run with every action")


def test_random_runs_are_accepted_by_both(seed: int) -> None:
    runs = [random_run(seed + number, 2 + number % 2, 60) for number in range(6)]
    judge_both(accept, judge, runs, {}, seed)


@pytest.mark.multiproc
def test_real_runs_are_accepted_by_both() -> None:
    runs = real_runs()
    assert {event["action"] for run in runs for event in run} == ACTIONS | {"Open"}
    judge_both(accept, judge, runs, {})


def test_what_is_altered_is_rejected_by_both() -> None:
    run = _whole()
    judge_both(accept, judge, [], {name: change(run) for name, change in ALTERED.items()})


def test_what_is_no_trace_of_a_gate_is_refused() -> None:
    opening = random_run(1, 2, 1)[0]
    for change in ({"ranks": 0}, {"capacity": None}, {"max_late": "1"}, {"action": "Join"}):
        (found,) = accept(lines_of([opening | change]))
        assert not found.accepted
        assert "Open" in found.reason
    (verdict,) = judge([[opening | {"protocol": "dispatch"}]])
    assert not verdict.accepted
