"""Recorded runs of components: both judges accept what happened, and reject what is altered, at the same event."""

from __future__ import annotations

import pytest

from models.status_trace import accept
from tests.traces.both_judges import judge_both
from tests.traces.refusals import refuse_undeclared
from tests.traces.schema import SCHEMA, problem
from tests.traces.status_runs import ALTERED, EVENTS, random_run, real_runs, whole_run
from tla.status_trace import judge

pytestmark = pytest.mark.tlc


def test_random_runs_are_accepted_by_both(seed: int) -> None:
    runs = [random_run(seed + number, 60) for number in range(6)]
    assert [text for run in runs for event in run if (text := problem(event, SCHEMA))] == []
    judge_both(accept, judge, runs, {}, seed)


@pytest.mark.multiproc
def test_real_runs_are_accepted_by_both() -> None:
    runs = real_runs()
    actions = {event["action"] for run in runs for event in run}
    assert actions == {"Open", *EVENTS}
    assert [text for run in runs for event in run if (text := problem(event, SCHEMA))] == []
    judge_both(accept, judge, runs, {})


def test_what_is_altered_is_rejected_by_both() -> None:
    run = whole_run()
    judge_both(accept, judge, [], {name: change(run) for name, change in ALTERED.items()})


def test_what_is_no_trace_of_components_is_refused() -> None:
    refuse_undeclared(accept, judge, random_run(1, 5))
