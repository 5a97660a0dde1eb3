"""The machines of the FMQ queue run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from fdcomm.errors import FdcommError
from models.fmq import Fmq
from tests.conformance.fmq_faults import FAULTS
from tests.stateful.fmq_machine import run_core, run_handles
from tests.stateful.rounds import run_rounds, unseen

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=150), Fmq().actions) == set()


@pytest.mark.parametrize("fault", ["NoticesNoHole", "SendsNothingAgain"])
def test_a_fault_of_a_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=200, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, ValueError, IndexError)):
        run_rounds(lambda chosen: run_core(chosen, *FAULTS[fault]), options)


def test_the_handles_and_the_model_agree() -> None:
    assert unseen(run_handles, settings(FIXED, max_examples=10), {"Take"}, least=21) == set()


def test_a_consumer_that_gives_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdcomm.mq.consumer.Receiver", FAULTS["GivesTwice"][1])
    options = settings(FIXED, max_examples=40, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, FdcommError)):
        run_rounds(run_handles, options)
