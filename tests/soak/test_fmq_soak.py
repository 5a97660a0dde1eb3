"""A short form of the soak of queues: nothing is lost, given twice, or left behind."""

from __future__ import annotations

import pytest

from tests.soak.fmq import run_round

pytestmark = [pytest.mark.multiproc, pytest.mark.slow]


def test_nothing_is_lost_when_processes_are_killed(seed: int) -> None:
    figures = run_round(seed, producers=2, count=4000, kills=3, large=40)
    assert figures.good, f"seed {seed}: {figures}"
    assert figures.sent >= 8000 - 64
    assert figures.producers_killed + figures.consumers_killed > 0
