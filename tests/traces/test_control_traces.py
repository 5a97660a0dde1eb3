"""Recorded runs of control: both judges accept what happened, and reject what is altered, at the same event."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import judge_both
from tests.traces.control_runs import ALTERED, EVENTS, random_run, real_run, whole_run
from tests.traces.refusals import refuse_empty_post
from tests.traces.schema import SCHEMA, problem
from tla.control_trace import judge

pytestmark = pytest.mark.tlc


@pytest.mark.multiproc
def test_what_happened_is_accepted_by_both_and_what_is_altered_by_none(seed: int) -> None:
    real = real_run()
    assert {event["action"] for event in real} == {"Open", *EVENTS}
    assert [text for event in real if (text := problem(event, SCHEMA))] == []
    good = [real, *(random_run(seed + number, 2, 60) for number in range(4))]
    whole = whole_run()
    judge_both(accept, judge, good, {name: change(whole) for name, change in ALTERED.items()}, seed)


def test_what_is_no_trace_of_control_is_refused() -> None:
    refuse_empty_post(accept, judge, random_run(1, 2, 5))
