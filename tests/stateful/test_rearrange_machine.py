"""Rearrange's machines run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from models.rearrange import Rearrange
from tests.conformance import rearrange_faults
from tests.stateful.rearrange_machine import run_core, run_host
from tests.stateful.rounds import run_rounds, unseen

EVERY_ACTION = set(Rearrange().actions)

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=30)


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=30, max_examples=min(settings().max_examples, 30)))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=40), EVERY_ACTION) == set()


# Faults that a random run meets soon. The others are left to the exhaustive drive of the edges.
SOON = ("LateIsLoaded", "FenceEndsNothing", "LeavesPlan")


@pytest.mark.parametrize("fault", SOON)
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, rearrange_faults.CORE[fault]), options)


@pytest.mark.multiproc
def test_a_real_host_and_the_model_agree() -> None:
    options = settings(FIXED, stateful_step_count=20, max_examples=15, report_multiple_bugs=False)
    inside = {"Crash", "RefuseReport", "Withdraw", "EndTimeout"}
    assert unseen(run_host, options, EVERY_ACTION - inside) == set()
