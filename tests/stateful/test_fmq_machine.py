"""The machines of the FMQ queue run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from fdcomm.mq.consumer import Consumer
from fdcomm.mq.producer import Producer
from models.fmq import Fmq
from tests.conformance.fmq_faults import FAULTS
from tests.stateful.fmq_machine import run_core, run_handles

# The same examples in every run: what must occur, and what must be found, does not depend on luck.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_every_action_occurs() -> None:
    occurred = run_core(settings(FIXED, max_examples=60))
    assert {name for name in Fmq().actions if not occurred[name]} == set()


@pytest.mark.parametrize("fault", ["HasNoWindow", "NoticesNoHole", "SendsNothingAgain"])
def test_a_fault_of_a_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=200, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, ValueError, IndexError)):
        run_core(options, *FAULTS[fault])


def test_the_handles_and_the_model_agree() -> None:
    occurred = run_handles(settings(FIXED, max_examples=15))
    assert occurred["Take"] > 20


def test_a_consumer_that_acknowledges_what_it_gives_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Consumer._next

    def eager(self: Consumer) -> object:
        message = original(self)
        self._finish()
        return message

    monkeypatch.setattr(Consumer, "_next", eager)
    monkeypatch.setattr(Producer, "_hear", lambda self: None)
    options = settings(FIXED, max_examples=1, stateful_step_count=10, phases=[Phase.generate])
    with pytest.raises(Exception, match=r".+"):
        _bounded(options)


def _bounded(options: settings) -> None:
    from tests.stateful import fmq_machine

    class _Tired(fmq_machine.Bed):
        looks = 0

        def look(self) -> None:
            self.looks += 1
            if self.looks > 200:
                raise AssertionError("nothing settles")
            super().look()

    patched = pytest.MonkeyPatch()
    with patched.context() as patch:
        patch.setattr(fmq_machine, "Bed", _Tired)
        run_handles(options)
