"""The machines of readiness run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from models.readiness import Readiness
from tests.conformance import readiness_faults as faults
from tests.stateful.readiness_host_machine import run_host
from tests.stateful.readiness_machine import run_core
from tests.stateful.rounds import run_rounds, unseen

EVERY_ACTION = set(Readiness().actions)
ENVIRONMENT = {"Crash", "Cut", "LateWord", "Age", "Beat", "GhostBeat"}

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=30)

# The others need no long run: every edge finds them (tests/conformance).
LONG = ("a new process is ready as the one before it", "a stuck loop never recovers", "a loss is waited for")


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(max_examples=20, stateful_step_count=25))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=40), EVERY_ACTION) == set()


@pytest.mark.parametrize("fault", LONG)
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=150, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, faults.CORE[fault]), options)


@pytest.mark.multiproc
def test_every_event_occurs_over_a_real_host() -> None:
    options = settings(FIXED, stateful_step_count=14, max_examples=8, report_multiple_bugs=False)
    assert unseen(run_host, options, EVERY_ACTION - ENVIRONMENT) == set()
