"""Recorded runs of layer-wise senders: the model accepts what happened, and rejects what is altered."""

from __future__ import annotations

from collections import Counter

import pytest

from models.dispatch_trace import accept
from tests.traces.layerwise_processes import real_run
from tests.traces.layerwise_runs import ACTIONS, ALTERED, Event, lines_of, random_run


def _whole() -> list[Event]:
    """A run that has every action, so that each can be altered."""
    for seed in range(200):
        run = random_run(seed, 200)
        if {event["action"] for event in run} >= ACTIONS:
            return run
    raise AssertionError("no seed gives a run with every action")


def test_random_runs_are_accepted(seed: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(8):
        (verdict,) = accept(lines_of(random_run(seed + number, 200)))
        assert verdict.accepted, f"seed {seed + number}: {verdict}"
        counts += verdict.counts
    assert sum(counts.values()) > 400, f"seed {seed}: little happened: {counts}"


@pytest.mark.multiproc
def test_a_real_run_is_accepted_and_the_ranks_make_the_same_calls() -> None:
    run = real_run()
    for trace in run.traces:
        (verdict,) = accept(trace.splitlines())
        assert verdict.accepted, str(verdict)
        assert {name for name in ACTIONS if not verdict.counts[name]} <= {"ExpireTask"}
    assert [request for request, _ in run.calls[0]] == [*range(10), 11]
    assert run.calls[0] == run.calls[1]
    assert {request: error for request, error in run.calls[0] if error} == {5: "TaskEndedError", 7: "TaskEndedError"}
    assert run.missing == [[10], [10]]
    assert run.left == []


@pytest.mark.parametrize("name", ALTERED)
def test_what_is_altered_is_rejected(name: str) -> None:
    run = _whole()
    (before,) = accept(lines_of(run))
    assert before.accepted
    (verdict,) = accept(lines_of(ALTERED[name](run)))
    assert not verdict.accepted


@pytest.mark.parametrize("change", [{"slots": 0}, {"layers": None}, {"capacity": "1"}, {"action": "OnEnd"}])
def test_what_does_not_begin_with_its_shape_is_refused(change: Event) -> None:
    opening = random_run(1, 1)[0]
    (verdict,) = accept(lines_of([opening | change]))
    assert not verdict.accepted
    assert "Open" in verdict.reason
