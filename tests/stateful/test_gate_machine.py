"""The gate's machines run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from models.gate import Gate
from tests.conformance import gate_faults
from tests.stateful.gate_machine import run_core, run_host
from tests.stateful.rounds import run_rounds, unseen

EVERY_ACTION = set(Gate().actions)

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=50))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=60), EVERY_ACTION, least=3) == set()


# Faults that a random run meets soon. The others are left to the exhaustive drive of the edges.
SOON = ("ByPosition", "CollectLeavesIt", "FenceDoomsAll", "OneTooMany", "RefusesForEver", "WrongMissing")


@pytest.mark.parametrize("fault", SOON)
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, gate_faults.CORE[fault]), options)


@pytest.mark.multiproc
def test_a_real_host_and_the_model_agree() -> None:
    limit = min(settings().max_examples, 300)
    run_host(settings(stateful_step_count=30, max_examples=limit, report_multiple_bugs=False))


@pytest.mark.multiproc
def test_every_event_occurs_over_a_real_host() -> None:
    options = settings(FIXED, stateful_step_count=30, max_examples=40, report_multiple_bugs=False)
    assert unseen(run_host, options, EVERY_ACTION - {"Issue", "Skip", "Crash"}) == set()
