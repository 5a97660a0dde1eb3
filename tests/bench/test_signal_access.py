"""The measurement of signals runs and is complete. What its figures are is not tested: times depend on the machine."""

from __future__ import annotations

import pytest

from tests.bench.signal_access import OTHERS, READS, WRITES, access, idle_cpu, wake_ups

pytestmark = pytest.mark.multiproc


def test_it_runs() -> None:
    found = access(1, 0.001)
    assert set(found) == {*READS, *WRITES, *OTHERS}
    assert all(taken > 0 for taken in found.values())
    assert len(wake_ups(5)) == 5
    assert 0 <= idle_cpu(0.1) < 1
