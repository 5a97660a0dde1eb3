"""Every edge of the barrier model through the core and the host's channel, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.barrier import BarrierGroup
from fdcomm.errors import ConfigError, ProtocolViolationError, RankError
from fdcomm.host.barrier_channel import BarrierChannel
from models.barrier import Barrier, Config
from tests.conformance import barrier_faults as faults
from tests.conformance.barrier_core import Deviation, drive_core
from tests.conformance.barrier_plans import CORE_SMALL, SERVICE
from tests.conformance.barrier_service import drive_service, host_moves
from tests.conformance.walks import edges_of

EVERY_ACTION = set(Barrier().actions)
R = frozenset[int]

PLANTED = Config(ranks=3, labels=2, max_rounds=1, max_aborts=1, named=True, mortal=R({2}))
PLANTED_SERVICE = Config(barriers=1, max_rounds=1, max_aborts=1, leavers=R({1}), mortal=R({0}))


@pytest.mark.parametrize("plan", CORE_SMALL)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE_SMALL[plan])
    assert coverage.edges > coverage.states
    assert coverage.refusals > coverage.states


def test_the_plans_have_every_action() -> None:
    assert set(drive_core(CORE_SMALL["2 ranks, 2 barriers, everything"]).actions) == EVERY_ACTION


@pytest.mark.parametrize("lazy", [False, True], ids=["woken at once", "woken at the end"])
@pytest.mark.parametrize("plan", SERVICE)
def test_the_channel_takes_every_edge_that_a_host_can(plan: str, lazy: bool) -> None:
    _, moves = host_moves(SERVICE[plan])
    possible = edges_of(moves)
    coverage = drive_service(SERVICE[plan], lazy=lazy)
    assert coverage.edges == len(possible)
    assert set(coverage.actions) | {"Leave"} == EVERY_ACTION


@pytest.mark.parametrize("plan", SERVICE)
def test_what_a_host_cannot_take_starts_after_a_join_without_a_wait(plan: str) -> None:
    graph, moves = host_moves(SERVICE[plan])
    possible = edges_of(moves)
    between = {
        edge[2] for found in moves.values() for move in found for edge in move[:-1] if edge[1].name in ("Join", "Fence")
    }
    left_out = [edge for edge in graph.edges if edge not in possible]
    assert all(edge[0] in between or edge[0] not in moves or edge[1].name == "Join" for edge in left_out)
    assert len(left_out) < len(graph.edges) // 50


@pytest.mark.parametrize("fault", faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(PLANTED, faults.CORE[fault])


@pytest.mark.parametrize("fault", faults.CHANNEL)
def test_a_fault_of_the_channel_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = faults.CHANNEL[fault]
    monkeypatch.setattr(BarrierChannel, method, change(getattr(BarrierChannel, method)))
    with pytest.raises(Deviation):
        drive_service(PLANTED_SERVICE)


def test_the_planted_configurations_are_right_without_a_fault() -> None:
    assert drive_service(PLANTED_SERVICE).edges > 0


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        BarrierGroup(("a",), 0)
    group = BarrierGroup(("a", "b"), 2)
    for rank in (-1, 2):
        with pytest.raises(RankError):
            group.join(rank)
    group.join(0)
    with pytest.raises(ProtocolViolationError, match="no barrier 'c' here, only a, b"):
        group.arrive(0, "c")
    with pytest.raises(ProtocolViolationError, match="rank 1 is not live"):
        group.arrive(1, "a")
