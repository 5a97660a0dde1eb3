"""Level V4: random behaviours of the models of the ring, done by the code."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from tests.conformance.ring_plans import RANDOM, part_of
from tests.stateful.memory_walks import run_random


@pytest.mark.parametrize("plan", RANDOM)
def test_random_behaviours(plan: str) -> None:
    options = settings(max_examples=settings().max_examples // 3, suppress_health_check=list(HealthCheck))
    assert len(run_random(part_of, plan, options, 150)) >= 12
