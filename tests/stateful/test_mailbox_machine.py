"""The machines of the mailbox run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings

from fdcomm.core.mailbox import Mailbox as Core
from fdcomm.mailbox.results import MAILBOX_EVENTS
from models.mailbox import Mailbox
from tests.conformance import mailbox_faults
from tests.stateful.mailbox_machine import run_core, run_server
from tests.stateful.rounds import run_rounds, unseen

EVERY_ACTION = set(Mailbox().actions)

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=15))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=30), EVERY_ACTION) == set()


# Faults that a random run meets soon. The others are left to the exhaustive drive of the edges.
SOON = ("SendsTwice", "LooksOnce", "NoBound", "ForgetsEnds")


@pytest.mark.parametrize("fault", SOON)
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=200, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, mailbox_faults.CORE[fault]), options)


def test_the_server_and_the_model_agree() -> None:
    run_server(settings(stateful_step_count=12, deadline=None))


def test_every_action_of_the_server_occurs() -> None:
    assert unseen(run_server, settings(FIXED, max_examples=20, deadline=None), MAILBOX_EVENTS) == set()


def test_a_server_that_counts_what_was_refused_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a send is taken for a success (B75)."""
    original = Core.lost

    def lost(self: Any, request: Any) -> Any:
        self.sent(request)
        return () if request not in self.open else original(self, request)

    monkeypatch.setattr(Core, "lost", lost)
    options = settings(FIXED, max_examples=60, phases=[Phase.generate], report_multiple_bugs=False, deadline=None)
    with pytest.raises(Exception, match=r"lost|Lost|sent"):
        run_rounds(run_server, options)
