"""Recorded runs of readiness: both judges accept what happened, and reject what is altered, at the same event."""

from __future__ import annotations

import pytest

from models.readiness_trace import accept
from tests.traces.both_judges import judge_both
from tests.traces.readiness_runs import ALTERED, EVENTS, lines_of, random_run, real_run, whole_run
from tests.traces.schema import SCHEMA, problem
from tla.readiness_trace import judge

pytestmark = pytest.mark.tlc


def test_random_runs_are_accepted_by_both_and_altered_ones_rejected(seed: int) -> None:
    runs = [random_run(seed + number, 60) for number in range(6)]
    assert [text for run in runs for event in run if (text := problem(event, SCHEMA))] == []
    whole = whole_run()
    judge_both(accept, judge, runs, {name: change(whole) for name, change in ALTERED.items()}, seed)


@pytest.mark.multiproc
def test_a_real_run_is_accepted_by_both() -> None:
    run = real_run()
    assert {event["action"] for event in run} == {"Open", *EVENTS}
    assert [text for event in run if (text := problem(event, SCHEMA))] == []
    judge_both(accept, judge, [run], {})


def test_what_is_no_trace_of_readiness_is_refused() -> None:
    (verdict,) = accept([])
    assert not verdict.accepted
    (verdict,) = accept(["{"])
    assert "not JSON" in verdict.reason
    run = random_run(1, 5)
    (verdict,) = accept(lines_of(run[1:]))
    assert "must be Open" in verdict.reason
    (verdict,) = accept(lines_of([run[0], *run[2:]]))
    assert "must be Declare" in verdict.reason
    assert not judge([run[1:]])[0].accepted
