"""Runs of a queue between real processes that are killed: accepted by TLC and by the model."""

from __future__ import annotations

from collections import Counter

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import objections
from tests.traces.fmq_real import REAL_EVENTS, real_run
from tests.traces.fmq_runs import ALTERED, lines_of
from tests.traces.schema import SCHEMA, problem
from tla.fmq_trace import judge

pytestmark = pytest.mark.multiproc


@pytest.mark.tlc
def test_real_processes_are_accepted_by_both_judges(seed: int) -> None:
    runs = [real_run(seed + number, 40) for number in range(3)]
    assert [text for run in runs for event in run if (text := problem(event, SCHEMA))] == []
    occurred = Counter(event["action"] for run in runs for event in run)
    assert set(occurred) >= REAL_EVENTS, f"seed {seed}: {occurred}"
    bad = {name: ALTERED[name](runs[0]) for name in ("a put is forgotten", "two consumers", "a message is given twice")}
    by_model = [accept(lines_of(run))[0] for run in (*runs, *bad.values())]
    assert objections(by_model, judge([*runs, *bad.values()]), bad) == [], f"seed {seed}"
