"""The machines of the components run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from models.status import Status
from tests.conformance import status_faults as faults
from tests.stateful.rounds import run_rounds, unseen
from tests.stateful.status_host_machine import run_host
from tests.stateful.status_machine import run_core

EVERY_ACTION = set(Status().actions)

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=20)

# The others need no long run: every edge finds them (tests/conformance).
LONG = ("a loss is no failure", "stages in the wrong order", "the first failure ends it")


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(max_examples=20, stateful_step_count=25))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=25), EVERY_ACTION) == set()


@pytest.mark.parametrize("fault", LONG)
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=100, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, faults.CORE[fault]), options)


@pytest.mark.multiproc
def test_every_event_occurs_over_a_real_host() -> None:
    options = settings(FIXED, stateful_step_count=12, max_examples=8, report_multiple_bugs=False)
    assert unseen(run_host, options, EVERY_ACTION - {"Crash"}) == set()
