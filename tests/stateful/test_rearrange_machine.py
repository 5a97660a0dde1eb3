"""Rearrange's machines run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from models.rearrange import Rearrange
from tests.conformance import rearrange_faults
from tests.stateful.rearrange_machine import run_core, run_host

EVERY_ACTION = set(Rearrange().actions)

# The same examples in every run: what must occur, and what must be found, does not depend on luck.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=30)


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=30, max_examples=min(settings().max_examples, 30)))


def test_every_action_occurs() -> None:
    occurred = run_core(settings(FIXED, max_examples=40))
    assert {name for name in EVERY_ACTION if not occurred[name]} == set()


# Faults that a random run meets soon. The others are left to the exhaustive drive of the edges.
SOON = ("LateIsLoaded", "FenceEndsNothing", "LeavesPlan")


@pytest.mark.parametrize("fault", SOON)
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_core(options, rearrange_faults.CORE[fault])


@pytest.mark.multiproc
def test_a_real_host_and_the_model_agree() -> None:
    occurred = run_host(settings(FIXED, stateful_step_count=20, max_examples=15, report_multiple_bugs=False))
    unseen = {"Crash", "RefuseReport", "Withdraw", "EndTimeout"}
    assert {name for name in EVERY_ACTION - unseen if not occurred[name]} == set()
