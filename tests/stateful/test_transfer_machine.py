"""The machines of transfers run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from fdcomm.core.rank_tasks import RankTasks
from models.transfer import Transfer
from tests.conformance import transfer_faults
from tests.stateful.rounds import run_rounds, unseen
from tests.stateful.transfer_host_machine import run_host
from tests.stateful.transfer_machine import run_core

EVERY_ACTION = set(Transfer().actions)
INSIDE = {"Crash", "Admit", "Release", "Finish", "JobDone", "Stop", "Order", "Still", "Resume"}

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_the_cores_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=50))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=40), EVERY_ACTION) == set()


# Faults that a random run meets soon. The others are left to the exhaustive drive of the edges.
SOON = ("StartsAlone", "WithdrawsSilently", "FailureIsDone", "OverdueIsOver", "AbandonedIsOver")


@pytest.mark.parametrize("fault", SOON)
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=60, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, (transfer_faults.CORE[fault], RankTasks)), options)


@pytest.mark.multiproc
def test_a_real_host_and_the_model_agree() -> None:
    limit = max(5, min(settings().max_examples, 300) // 6)
    run_host(settings(stateful_step_count=25, max_examples=limit, report_multiple_bugs=False))


@pytest.mark.multiproc
def test_every_event_occurs_over_a_real_host() -> None:
    options = settings(FIXED, stateful_step_count=40, max_examples=48, report_multiple_bugs=False)
    assert unseen(run_host, options, EVERY_ACTION - INSIDE - {"Gone"}) == set()
