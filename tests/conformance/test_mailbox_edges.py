"""Every edge of the mailbox model through the core, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.mailbox import Mailbox as Core
from fdcomm.errors import ConfigError
from models.mailbox import Mailbox
from tests.conformance import mailbox_faults
from tests.conformance.mailbox_core import Deviation, drive_core
from tests.conformance.mailbox_plans import CORE

EVERY_ACTION = set(Mailbox().actions)


@pytest.mark.parametrize("plan", CORE)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE[plan])
    assert coverage.edges == coverage.of > coverage.states > 300
    assert coverage.refusals > 3 * coverage.states
    assert set(coverage.actions) == EVERY_ACTION


@pytest.mark.parametrize("fault", mailbox_faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(CORE["1 request, 1 client"], mailbox_faults.CORE[fault])


@pytest.mark.parametrize("sizes", [(-1, 1), (1, -1)])
def test_a_mailbox_of_no_size_is_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(ConfigError):
        Core(*sizes)


def test_only_the_latest_ends_are_remembered() -> None:
    core = Core(4, remember=2)
    for request in "abc":
        core.handle(request, "client")
        core.put(request, 1, True)
        core.sent(request)
    assert list(core.ended) == ["b", "c"]
    assert (core.stage("a"), core.stage("c")) == ("open", "over")
