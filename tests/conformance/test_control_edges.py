"""Every edge of the control model through its core and the host's channel, and proof that a deviation shows."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.core.control import Control
from fdcomm.errors import ConfigError, RankError
from fdcomm.host.control_channel import ControlChannel
from models.control import Config
from models.control import Control as Model
from tests.conformance import control_faults
from tests.conformance.control_core import Deviation, drive_core
from tests.conformance.control_moves import host_moves
from tests.conformance.control_plans import CORE, SERVICE
from tests.conformance.control_service import drive_service
from tests.conformance.walks import edges_of, states_within

R = frozenset[int]
EVERY_ACTION = set(Model().actions)


@pytest.mark.parametrize("plan", CORE)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE[plan])
    assert coverage.edges > coverage.states > 500
    assert coverage.refusals > coverage.states
    assert set(coverage.actions) == EVERY_ACTION


@pytest.mark.parametrize("plan", SERVICE)
def test_the_channel_takes_every_edge_that_a_host_can(plan: str) -> None:
    graph, moves = host_moves(SERVICE[plan])
    possible = edges_of(moves)
    coverage = drive_service(SERVICE[plan])
    assert (coverage.edges, coverage.of) == (len(possible), len(graph.edges))
    assert coverage.refusals > coverage.states
    assert set(coverage.actions) == EVERY_ACTION - {"Vanish"}  # tests/unit/test_control.py


# What the host cannot be in: a rank has joined and could take, or a request waits for lost ranks only.
def test_what_a_host_cannot_take_starts_inside_a_critical_section() -> None:
    for config in SERVICE.values():
        graph, moves = host_moves(config)
        possible = edges_of(moves)
        between = states_within(moves)
        assert all(edge[0] in between or edge[0] not in moves for edge in graph.edges if edge not in possible)


# The smallest configuration in which each fault shows.
_ONE = Config(ranks=1, max_asked=2, capacity=1, mortal=R({0}), leavers=R({0}))
_TWO = Config(ranks=1, max_asked=2)
_BOTH = Config(leavers=R({1}), mortal=R({0}), silent=R({1}))
PLANS = {
    "OldestOpen": _TWO,
    "CountsLate": _TWO,
    "TakesAgain": _TWO,
    "TakesNewest": _TWO,
    "OneTooMany": _ONE,
    "LeaveDoomsAll": _ONE,
}


@pytest.mark.parametrize("fault", control_faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(PLANS.get(fault, _BOTH), control_faults.CORE[fault])


@pytest.mark.parametrize("fault", control_faults.SERVICE)
def test_a_fault_of_the_channel_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = control_faults.SERVICE[fault]
    monkeypatch.setattr(ControlChannel, method, change(getattr(ControlChannel, method)))
    with pytest.raises(Deviation):
        drive_service(SERVICE["1 rank, 2 requests"])


@pytest.mark.parametrize("rank", [-1, 2])
@pytest.mark.parametrize("method", ["join", "leave", "fence", "vanish", "reappear", "take"])
def test_a_rank_out_of_range_is_refused(method: str, rank: int) -> None:
    core: Control[Any] = Control(2)
    with pytest.raises(RankError):
        getattr(core, method)(rank)


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0)])
def test_a_control_of_no_size_is_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(ConfigError):
        Control[Any](*sizes)
