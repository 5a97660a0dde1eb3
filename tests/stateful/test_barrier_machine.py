"""The machines of the barriers run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from fdcomm.deadline import Timeout
from fdcomm.meeting_path import MeetingPath
from models.barrier import Barrier
from tests.conformance import barrier_faults as faults
from tests.stateful.barrier_host_machine import run_host
from tests.stateful.barrier_machine import run_core
from tests.stateful.barrier_meeting_machine import run_meeting
from tests.stateful.rounds import run_rounds, unseen

EVERY_ACTION = set(Barrier().actions)

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=40)


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=40))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=60), EVERY_ACTION) == set()


@pytest.mark.parametrize("fault", [*faults.CORE, *faults.CORE_LONG])
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, {**faults.CORE, **faults.CORE_LONG}[fault]), options)


@pytest.mark.multiproc
def test_every_event_occurs_over_a_real_host() -> None:
    options = settings(FIXED, stateful_step_count=25, max_examples=25, report_multiple_bugs=False)
    assert unseen(run_host, options, EVERY_ACTION - {"Crash"}) == set()


@pytest.mark.multiproc
@pytest.mark.parametrize(("remote", "alone"), [((), False), ((0,), False), ((0, 1), False), ((0,), True)])
def test_every_action_occurs_where_ranks_meet_in_shared_memory(remote: tuple[int, ...], alone: bool) -> None:
    options = settings(FIXED, stateful_step_count=25, max_examples=15, report_multiple_bugs=False)
    found = unseen(lambda chosen: run_meeting(chosen, frozenset(remote), alone=alone), options, EVERY_ACTION)
    assert found == set()


@pytest.mark.multiproc
@pytest.mark.parametrize("lost", ["label", "number"])
def test_a_fault_of_the_meeting_is_found(monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    """Handles that do not say what a wait is for."""
    wait = MeetingPath.wait

    def forget(self: MeetingPath, place: int, label: str, number: int | None, limit: Timeout, operation: str) -> int:
        said = ("", number) if lost == "label" else (label, None)
        return wait(self, place, *said, min(limit, 2.0) if isinstance(limit, float) else limit, operation)

    monkeypatch.setattr(MeetingPath, "wait", forget)
    options = settings(FIXED, stateful_step_count=25, max_examples=40, phases=[Phase.generate])
    with pytest.raises(AssertionError):
        run_rounds(run_meeting, settings(options, report_multiple_bugs=False))
