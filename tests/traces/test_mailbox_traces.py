"""Recorded runs of a mailbox: both judges accept what happened, and reject altered runs at the same event."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import counts_of_fitting, judge_both
from tests.traces.events import Event
from tests.traces.mailbox_runs import ACTIONS, ALTERED, random_run, whole_run
from tests.traces.refusals import refuse_opening
from tests.traces.schema import SCHEMA, problem
from tla.__main__ import judge_of
from tla.mailbox_trace import judge


def test_random_runs_are_accepted_by_the_model_and_fit_the_schema(seed: int) -> None:
    counts = counts_of_fitting(accept, {n: random_run(n, 200) for n in range(seed, seed + 10)})
    assert sum(counts.values()) > 300, f"seed {seed}: little happened: {counts}"


@pytest.mark.tlc
def test_runs_are_judged_alike(seed: int) -> None:
    """One start of TLC for all."""
    whole = whole_run()
    assert [text for event in whole if (text := problem(event, SCHEMA))] == []
    runs = [whole, *(random_run(seed + number, 60) for number in range(2))]
    verdicts = judge_both(accept, judge, runs, {name: change(whole) for name, change in ALTERED.items()}, seed)
    assert {name for name in ACTIONS if not verdicts[0].counts[name]} == set()


@pytest.mark.parametrize("change", [{"capacity": -1}, {"capacity": None}, {"capacity": "1"}, {"action": "Put"}])
def test_what_does_not_begin_with_its_shape_is_refused(change: Event) -> None:
    refuse_opening(accept, judge, random_run(1, 1)[0] | change)


def test_the_command_line_finds_the_judge() -> None:
    assert judge_of("mailbox") is judge
