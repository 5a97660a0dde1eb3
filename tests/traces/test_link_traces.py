"""Recorded runs of links: both judges accept what happened, and reject altered runs at the same event."""

from __future__ import annotations

from collections import Counter

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import judge_both
from tests.traces.events import Event
from tests.traces.link_runs import ACTIONS, ALTERED, lines_of, random_runs, whole_runs
from tests.traces.schema import SCHEMA, problem
from tla.__main__ import judge_of
from tla.link_trace import judge


def test_random_runs_are_accepted_by_the_model_and_fit_the_schema(seed: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(10):
        for run in random_runs(seed + number, 200):
            (verdict,) = accept(lines_of(run))
            assert verdict.accepted, f"seed {seed + number}: {verdict}"
            assert [text for event in run if (text := problem(event, SCHEMA))] == []
            counts += verdict.counts
    assert sum(counts.values()) > 300, f"seed {seed}: little happened: {counts}"


@pytest.mark.tlc
def test_runs_are_judged_alike(seed: int) -> None:
    """One start of TLC for all."""
    whole = whole_runs()
    assert [text for run in whole for event in run if (text := problem(event, SCHEMA))] == []
    runs = [*whole, *(run for number in range(2) for run in random_runs(seed + number, 60))]
    verdicts = judge_both(accept, judge, runs, {name: change(whole[1]) for name, change in ALTERED.items()}, seed)
    assert set(verdicts[0].counts) | set(verdicts[1].counts) == ACTIONS


@pytest.mark.parametrize("change", [{"window": 0}, {"window": None}, {"window": "1"}, {"action": "Begin"}])
def test_what_does_not_begin_with_its_shape_is_refused(change: Event) -> None:
    opening = whole_runs()[0][0]
    (found,) = accept(lines_of([opening | change]))
    (verdict,) = judge([[opening | change]])
    assert not found.accepted
    assert "Open" in found.reason
    assert (verdict.accepted, verdict.position) == (False, 0)
    assert "Open" in verdict.reason


def test_the_command_line_finds_the_judge() -> None:
    assert judge_of("link.3") is judge
