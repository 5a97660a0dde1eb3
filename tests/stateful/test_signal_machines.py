"""The machines of signals run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from models.signal import Signal
from tests.conformance.signal_faults import changed
from tests.stateful.rounds import run_rounds, unseen
from tests.stateful.signal_machine import run_simulated
from tests.stateful.signal_process_machine import RULES, run_processes

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_simulated_processes_and_the_model_agree() -> None:
    run_simulated(settings(stateful_step_count=40, max_examples=max(20, settings().max_examples // 10)))


def test_every_action_occurs() -> None:
    options = settings(FIXED, max_examples=60)
    assert unseen(run_simulated, options, (*Signal().actions, "crash inside", "write")) == set()


@pytest.mark.parametrize("fault", ["FillFirst", "OwnerChecked", "Supersedes"])
def test_a_fault_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=100, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_simulated(chosen, changed(fault)), options)


@pytest.mark.multiproc
def test_real_processes_do_as_they_should() -> None:
    options = settings(FIXED, stateful_step_count=25, max_examples=8, report_multiple_bugs=False)
    assert unseen(run_processes, options, RULES) == set()
