"""The pause protocol's machine runs, everything occurs in it, and it finds planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from models.pause import Pause
from tests.conformance import pause_faults
from tests.conformance.pause_core import Deviation
from tests.stateful.pause_machine import run_core

# The same examples in every run: what must occur, and what must be found, does not depend on luck.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_the_cores_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=50))


def test_every_action_occurs() -> None:
    occurred = run_core(settings(FIXED, max_examples=60))
    assert {name for name in Pause().actions if not occurred[name]} == set()


@pytest.mark.parametrize("fault", ["JoinsLoud", "TellsNobody"])
def test_a_fault_of_the_hosts_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=80, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, Deviation)):
        run_core(options, pause_faults.CORE[fault])


@pytest.mark.parametrize("fault", ["StaysOpen", "TakesOld"])
def test_a_fault_of_the_gate_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=80, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, Deviation)):
        run_core(options, make_gate=pause_faults.GATE[fault])
