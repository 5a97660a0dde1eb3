"""The pause protocol's machine runs, everything occurs in it, and it finds planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from fdcomm.core.pause import Order
from fdcomm.core.rank_gate import RankGate
from models.pause import Pause
from tests.conformance import pause_faults
from tests.conformance.pause_core import Deviation
from tests.stateful.pause_host_machine import run_host
from tests.stateful.pause_machine import run_core
from tests.stateful.rounds import run_rounds, unseen

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_the_cores_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=50))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=60), Pause().actions) == set()


@pytest.mark.parametrize("fault", ["JoinsLoud", "TellsNobody"])
def test_a_fault_of_the_hosts_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=80, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, Deviation)):
        run_rounds(lambda chosen: run_core(chosen, pause_faults.CORE[fault]), options)


@pytest.mark.parametrize("fault", ["StaysOpen", "TakesOld"])
def test_a_fault_of_the_gate_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=80, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, Deviation)):
        run_rounds(lambda chosen: run_core(chosen, make_gate=pause_faults.GATE[fault]), options)


@pytest.mark.multiproc
def test_a_real_host_and_the_model_agree() -> None:
    limit = max(5, min(settings().max_examples, 300) // 2)
    run_host(settings(stateful_step_count=25, max_examples=limit, report_multiple_bugs=False))


@pytest.mark.multiproc
def test_every_action_occurs_over_a_real_host() -> None:
    options = settings(FIXED, stateful_step_count=20, max_examples=40, report_multiple_bugs=False)
    assert unseen(run_host, options, set(Pause().actions) - {"Crash"}) == set()


@pytest.mark.multiproc
@pytest.mark.parametrize("fault", ["does not park", "a joining rank is open"])
def test_a_fault_of_a_rank_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real host's run, in which the ranks' threads are the shipping ones."""
    gate = {"does not park": _DoesNotPark, "a joining rank is open": _JoinsOpen}[fault]
    monkeypatch.setattr("fdcomm.jobs.RankGate", gate)
    monkeypatch.setattr("tests.conformance.waiting.WATCHDOG_S", 2.0)
    options = settings(FIXED, stateful_step_count=20, max_examples=40, phases=[Phase.generate])
    with pytest.raises((AssertionError, RuntimeError)):
        run_rounds(run_host, settings(options, report_multiple_bugs=False))


class _DoesNotPark(RankGate):
    def park(self) -> int | None:
        return None


class _JoinsOpen(RankGate):
    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self.shut = False
