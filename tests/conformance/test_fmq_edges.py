"""Every edge of the FMQ model through the cores, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.fmq import Sender
from fdcomm.errors import ConfigError
from models.fmq import Config, Fmq
from tests.conformance.fmq_core import Deviation, drive_core
from tests.conformance.fmq_faults import FAULTS
from tests.conformance.fmq_plans import CORE

EVERY_ACTION = set(Fmq().actions)
NOT_KEPT = CORE["1 message that is not kept"]


def test_the_cores_take_every_edge() -> None:
    coverage = drive_core(CORE["1 message"])
    assert coverage.edges == coverage.of > coverage.states > 300
    assert coverage.refusals > 3 * coverage.states
    assert set(coverage.actions) == EVERY_ACTION


def test_the_cores_take_every_edge_of_what_is_not_kept() -> None:
    coverage = drive_core(NOT_KEPT)
    assert coverage.edges == coverage.of > coverage.states > 200
    assert EVERY_ACTION - set(coverage.actions) == {"Drop", "Skip"}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_core_shows(fault: str) -> None:
    plan: Config = NOT_KEPT if fault == "KeepsWhatItDrops" else CORE["1 message"]
    with pytest.raises(Deviation):
        drive_core(plan, *FAULTS[fault])


def test_no_window_is_refused() -> None:
    with pytest.raises(ConfigError):
        Sender[int](0)
