"""The machines of block lists run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings

from fdcomm.blocks import BLOCKS_EVENTS
from fdcomm.core.blocks import Blocks as Core
from models.blocks import Blocks
from tests.conformance import blocks_faults
from tests.stateful.blocks_machine import run_client, run_core
from tests.stateful.rounds import run_rounds, unseen

EVERY_ACTION = set(Blocks().actions)

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=25))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=40), EVERY_ACTION) == set()


# Faults that a random run meets soon. The others are left to the exhaustive drive of the edges.
SOON = ("AnyBlocks", "CancelFrees", "HighestFirst", "ResetTellsNobody")


@pytest.mark.parametrize("fault", SOON)
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=200, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, blocks_faults.CORE[fault]), options)


def test_the_client_and_the_model_agree() -> None:
    run_client(settings(stateful_step_count=30, deadline=None))


def test_every_action_of_the_client_occurs() -> None:
    assert unseen(run_client, settings(FIXED, max_examples=60, deadline=None), BLOCKS_EVENTS) == set()


def test_lists_that_free_at_once_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives up frees the blocks, and the ranks still move them (P8.4)."""
    original = Core.cancel

    def cancel(self: Any, task: Any) -> bool:
        done = original(self, task)
        if done:
            for lease in task.leases:
                self._release(lease, 2)
        return done

    monkeypatch.setattr(Core, "cancel", cancel)
    options = settings(FIXED, max_examples=50, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(Exception, match=r"the lists have|is free, and should be"):
        run_rounds(run_client, options)


def test_lists_that_free_what_ranks_may_write_to_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a late task had is free with its result (late-write-into-freed-target)."""
    original = Core.handle

    def handle(self: Any, task: Any, outcome: str, late: bool = False) -> Any:
        return original(self, task, outcome)

    monkeypatch.setattr(Core, "handle", handle)
    options = settings(FIXED, max_examples=50, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError, match=r"ranks write to|no outcome 'failed' with late=True"):
        run_rounds(run_client, options)
