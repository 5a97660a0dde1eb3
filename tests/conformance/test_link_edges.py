"""Every edge of the link model through the core, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from models.link import Link
from tests.conformance import link_faults
from tests.conformance.link_core import Deviation, drive_core
from tests.conformance.link_plans import CORE

# What these bounds exclude.
EVERY_ACTION = set(Link().actions) - {"GiveUp", "Die", "Lose", "LoseAnswer", "HostDies"}


@pytest.mark.parametrize("plan", CORE)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE[plan])
    assert coverage.edges == coverage.of > coverage.states > 100
    assert coverage.refusals > 3 * coverage.states
    assert set(coverage.actions) == EVERY_ACTION


@pytest.mark.parametrize("fault", link_faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(CORE["2 calls"], link_faults.CORE[fault])
