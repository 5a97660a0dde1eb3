"""Recorded runs of block lists: both judges accept what happened, and reject altered runs at the same event."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.blocks_runs import ACTIONS, ALTERED, random_run, whole_run
from tests.traces.both_judges import counts_of_fitting, judge_both
from tests.traces.events import Event
from tests.traces.refusals import refuse_opening
from tla.__main__ import judge_of
from tla.blocks_trace import judge


def test_random_runs_are_accepted_by_the_model_and_fit_the_schema(seed: int) -> None:
    counts = counts_of_fitting(accept, {n: random_run(n, 80) for n in range(seed, seed + 5)})
    assert sum(counts.values()) > 150, f"seed {seed}: little happened: {counts}"


@pytest.mark.tlc
def test_runs_are_judged_alike(seed: int) -> None:
    """One start of TLC for all."""
    whole = whole_run()
    runs = [whole, *(random_run(seed + number, 60) for number in range(2))]
    verdicts = judge_both(accept, judge, runs, {name: change(whole) for name, change in ALTERED.items()}, seed)
    assert {name for name in ACTIONS if not verdicts[0].counts[name]} == {"Close"}
    assert any(verdict.counts["Close"] for verdict in verdicts[1:])


@pytest.mark.parametrize("change", [{"device": -1}, {"host": None}, {"device": "1"}, {"action": "Free"}])
def test_what_does_not_begin_with_its_shape_is_refused(change: Event) -> None:
    refuse_opening(accept, judge, random_run(1, 1)[0] | change)


def test_the_command_line_finds_the_judge() -> None:
    assert judge_of("blocks") is judge
