"""Level V6: what real processes do to a word is a behaviour of the model, also when one is killed in the middle."""

from __future__ import annotations

import pytest

from tests.traces.word_runs import ALTERED, accept, real_run

pytestmark = pytest.mark.multiproc


def test_real_runs_are_accepted_and_altered_ones_are_not(seed: int) -> None:
    run = real_run(seed)
    verdict = accept(run)
    assert verdict.accepted, str(verdict)
    assert {"Lock", "LoadOld", "StoreSum", "Unlock"} <= set(verdict.counts)
    for name, change in ALTERED.items():
        assert not accept(change(run)).accepted, name
