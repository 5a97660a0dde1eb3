"""The machines of layer-wise sending run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from models.layerwise import Layerwise
from tests.conformance import layerwise_faults
from tests.stateful.layerwise_machine import run_core, run_sender
from tests.stateful.rounds import run_rounds, unseen

EVERY_ACTION = set(Layerwise().actions)

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_the_tables_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=50))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=25), EVERY_ACTION, least=3) == set()


# Faults that a random run meets soon. The others are left to the exhaustive drive of the edges.
SOON = ("AnyStepCounts", "DropsEarly", "EarlyStays", "OneTooMany", "SendsTwice", "StepsAreNumbers")


@pytest.mark.parametrize("fault", SOON)
def test_a_fault_of_the_table_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=200, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, layerwise_faults.CORE[fault]), options)


def test_the_sender_and_the_model_agree() -> None:
    run_sender(settings(stateful_step_count=40))


def test_every_action_of_the_sender_occurs() -> None:
    assert unseen(run_sender, settings(FIXED, max_examples=25), EVERY_ACTION) == set()
