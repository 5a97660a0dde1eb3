"""Recorded runs of readiness: both judges accept what happened, and reject what is altered, at the same event."""

from __future__ import annotations

import pytest

from models.readiness_trace import accept
from tests.traces.both_judges import judge_both
from tests.traces.readiness_runs import ALTERED, EVENTS, random_run, real_run, whole_run
from tests.traces.refusals import refuse_undeclared
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
    refuse_undeclared(accept, judge, random_run(1, 5))
