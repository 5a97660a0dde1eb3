"""Level V6: what real processes do at a ring is a behaviour of the model, also when some are killed."""

from __future__ import annotations

import pytest

from tests.traces.ring_runs import ALTERED, both, real_run

pytestmark = pytest.mark.multiproc


def test_a_real_run_is_accepted_and_altered_ones_are_not(seed: int) -> None:
    run = real_run(seed)
    verdict = both(run)
    assert verdict.accepted, f"seed {seed}: {verdict}"
    assert {"TakeOver", "StoreStart", "OpenGate", "Kill", "Fence"} <= set(verdict.counts), f"seed {seed}: {verdict}"
    for name, change in ALTERED.items():
        assert not both(change(run)).accepted, f"seed {seed}: {name}"


def test_what_is_no_run_is_refused() -> None:
    assert not both([{"v": 1, "protocol": "ring", "dp": 0, "action": "Open"}]).accepted
