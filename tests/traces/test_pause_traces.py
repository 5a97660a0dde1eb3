"""Recorded runs of pauses: both judges accept what happened, and reject what is altered, at the same event."""

from __future__ import annotations

import pytest

from models.dispatch_trace import accept
from tests.traces.both_judges import judge_both
from tests.traces.events import Event
from tests.traces.pause_altered import ALTERED, is_whole
from tests.traces.pause_runs import ACTIONS, lines_of, random_run, real_run
from tla.pause_trace import judge


def _whole() -> list[Event]:
    return next(run for seed in range(300) if is_whole(run := random_run(seed, 2, 150)))


def test_random_runs_are_accepted_by_the_model(seed: int) -> None:
    for number in range(10):
        (found,) = accept(lines_of(random_run(seed + number, 1 + number % 3, 80)))
        assert found.accepted, f"seed {seed}: {found}"


@pytest.mark.multiproc
def test_a_real_run_is_accepted_by_the_model() -> None:
    run = real_run()
    assert {event["action"] for event in run} == ACTIONS | {"Open"}
    (found,) = accept(lines_of(run))
    assert found.accepted, str(found)


@pytest.mark.parametrize("name", ALTERED)
def test_what_is_altered_is_rejected_by_the_model(name: str) -> None:
    (found,) = accept(lines_of(ALTERED[name](_whole())))
    assert not found.accepted


@pytest.mark.tlc
@pytest.mark.slow
def test_tlc_and_the_model_judge_alike(seed: int) -> None:
    good = [random_run(seed + number, 2, 60) for number in range(2)]
    whole = _whole()
    judge_both(accept, judge, good, {name: change(whole) for name, change in ALTERED.items()}, seed)


def test_what_is_no_trace_of_pauses_is_refused() -> None:
    opening = random_run(1, 2, 1)[0]
    for change in ({"ranks": 0}, {"ranks": "2"}, {"action": "Join"}):
        (found,) = accept(lines_of([opening | change]))
        assert not found.accepted
        assert "Open" in found.reason
    (verdict,) = judge([[opening | {"protocol": "dispatch"}]])
    assert not verdict.accepted
