"""Runs of real processes on one signal are what the model allows, and altered ones are not."""

from __future__ import annotations

import pytest

from tests.traces.signal_runs import ALTERED, Steps, judge, record, switches

pytestmark = pytest.mark.multiproc


@pytest.fixture(scope="module")
def run() -> Steps:
    """One run, always of the same choices; how the processes meet is the machine's doing."""
    return record(seed=3)


def test_a_run_is_accepted(run: Steps) -> None:
    verdict = judge(run)
    assert verdict.accepted, verdict.stuck
    assert verdict.steps > 100
    assert switches(run) > 0
    assert {step.action for of in run for step in of} >= {"Publish", "Validate", "Crash", "Restart"}


def test_another_run_is_accepted(seed: int) -> None:
    verdict = judge(record(seed))
    assert verdict.accepted, verdict.stuck


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_run_is_rejected(run: Steps, name: str) -> None:
    assert not judge(ALTERED[name](run)).accepted
