"""Every edge of the status model through the core and the host's channel, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.status import Status as Core
from fdcomm.errors import ConfigError
from fdcomm.host.status_channel import StatusChannel
from models.status import Config, Status
from tests.conformance import status_faults as faults
from tests.conformance.status_core import Deviation, drive_core
from tests.conformance.status_plans import CORE_SMALL, SERVICE, SERVICE_LARGE
from tests.conformance.status_service import drive_service, host_moves
from tests.conformance.walks import edges_of

EVERY_ACTION = set(Status().actions)
R = frozenset[int]

PLANTED = (Config(max_asked=2), Config(parts=2, mortal=R({0})), Config(components=2))
PLANTED_SERVICE = Config(components=2, mortal=R({0}))


@pytest.mark.parametrize("plan", CORE_SMALL)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE_SMALL[plan])
    assert coverage.edges > coverage.states
    assert coverage.refusals > coverage.states
    assert set(coverage.actions) == EVERY_ACTION


@pytest.mark.parametrize("plan", SERVICE)
def test_the_channel_takes_every_edge_that_a_host_can(plan: str) -> None:
    _, moves = host_moves(SERVICE[plan])
    possible = edges_of(moves)
    coverage = drive_service(SERVICE[plan])
    assert coverage.edges == len(possible)
    assert set(coverage.actions) | {"NextStage"} == EVERY_ACTION


def test_what_a_host_cannot_take_starts_inside_one_of_its_critical_sections() -> None:
    graph, moves = host_moves(SERVICE_LARGE["2 stages, a part comes back"])
    possible = edges_of(moves)
    left_out = [edge for edge in graph.edges if edge not in possible]
    assert left_out
    assert [edge for edge in left_out if edge[0] in moves] == []


def _drive_planted(fault: str) -> None:
    for config in PLANTED:
        drive_core(config, faults.CORE[fault])


@pytest.mark.parametrize("fault", faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        _drive_planted(fault)


@pytest.mark.parametrize("fault", faults.CHANNEL)
def test_a_fault_of_the_channel_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = faults.CHANNEL[fault]
    monkeypatch.setattr(StatusChannel, method, change(getattr(StatusChannel, method)))
    with pytest.raises(Deviation):
        drive_service(PLANTED_SERVICE)


def test_what_makes_no_sense_is_refused() -> None:
    for wrong in ((), (("a", 0, 1), ("a", 1, 1)), (("a", 0, 0),)):
        with pytest.raises(ConfigError):
            Core(wrong)
