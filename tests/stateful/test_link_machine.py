"""The machines of the link run, everything occurs in them, and they find planted faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings

from fdcomm.link.links import LINK_EVENTS, Links
from models.link import Link
from tests.conformance import link_faults
from tests.stateful.link_machine import run_core, run_links
from tests.stateful.rounds import run_rounds, unseen

EVERY_ACTION = set(Link().actions)

# For what must occur, and what must be found: in rounds, whose seeds are always the same.
FIXED = settings(settings.get_profile("ci"), stateful_step_count=50)


def test_the_core_and_the_model_agree() -> None:
    run_core(settings(stateful_step_count=15))


def test_every_action_occurs() -> None:
    assert unseen(run_core, settings(FIXED, max_examples=40), EVERY_ACTION) == set()


@pytest.mark.parametrize("fault", ["RunsAgain", "ForgetsOpen"])
def test_a_fault_of_the_core_is_found(fault: str) -> None:
    options = settings(FIXED, max_examples=200, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_rounds(lambda chosen: run_core(chosen, link_faults.CORE[fault]), options)


def test_the_host_and_the_model_agree() -> None:
    run_links(settings(stateful_step_count=12, deadline=None))


def test_every_action_of_the_host_occurs() -> None:
    assert unseen(run_links, settings(FIXED, max_examples=20, deadline=None), LINK_EVENTS) == set()


def _runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdcomm.link.links.Link", link_faults.CORE["RunsAgain"])


def _opens_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdcomm.link.links.Link", link_faults.CORE["OpensAgain"])


def _forgets_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link that has ended is forgotten: its late first call makes a new one."""
    original = Links._ended_now

    def ended_now(self: Any, known: Any, *, lost: bool) -> None:
        original(self, known, lost=lost)
        self._ended.clear()

    monkeypatch.setattr(Links, "_ended_now", ended_now)


@pytest.mark.parametrize("plant", [_runs_again, _opens_again, _forgets_ended])
def test_a_fault_of_the_host_is_found(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    options = settings(FIXED, max_examples=60, phases=[Phase.generate], report_multiple_bugs=False, deadline=None)
    with pytest.raises(Exception, match=r"Counter|REJECTED|AssertionError"):
        run_rounds(run_links, options)
