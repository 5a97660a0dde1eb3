"""The machines of the FMQ queue run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from fdcomm.errors import FdcommError
from models.fmq import Fmq
from tests.conformance.fmq_faults import FAULTS
from tests.stateful.fmq_machine import run_core, run_handles

# The same examples in every run: what must occur, and what must be found, does not depend on luck.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_every_action_occurs() -> None:
    occurred = run_core(settings(FIXED, max_examples=30))
    assert {name for name in Fmq().actions if not occurred[name]} == set()


@pytest.mark.parametrize("fault", ["NoticesNoHole", "SendsNothingAgain"])
def test_a_fault_of_a_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=200, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, ValueError, IndexError)):
        run_core(options, *FAULTS[fault])


def test_the_handles_and_the_model_agree() -> None:
    occurred = run_handles(settings(FIXED, max_examples=10))
    assert occurred["Take"] > 20


def test_a_consumer_that_gives_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdcomm.mq.consumer.Receiver", FAULTS["GivesTwice"][1])
    options = settings(FIXED, max_examples=40, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, FdcommError)):
        run_handles(options)
