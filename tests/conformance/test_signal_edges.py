"""Level V3 on signals: the programs agree with the model on every edge, and planted faults are found."""

from __future__ import annotations

import pytest

from models.signal import Signal
from tests.conformance.signal_edges import SMALL, drive_signal
from tests.conformance.signal_faults import FAULTS, changed


def test_every_edge() -> None:
    done = {plan: drive_signal(config) for plan, config in SMALL.items()}
    assert all(coverage.edges > coverage.states > 100 for coverage in done.values())
    assert {name for coverage in done.values() for name in coverage.actions} == set(Signal().actions)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    with pytest.raises(AssertionError):
        drive_signal(SMALL[FAULTS[fault][0]], changed(fault))
