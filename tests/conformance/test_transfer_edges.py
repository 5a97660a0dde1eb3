"""Every edge of the transfer model through its cores and the host's channel, and proof that a deviation shows."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.core.rank_tasks import RankTasks
from fdcomm.core.transfer import Transfer
from fdcomm.errors import ConfigError, RankError
from fdcomm.host.transfer_channel import TransferChannel
from models.transfer import Config
from models.transfer import Transfer as Model
from tests.conformance import transfer_faults, transfer_rank_faults
from tests.conformance.driving import Deviation
from tests.conformance.transfer_core import drive_core
from tests.conformance.transfer_moves import host_moves
from tests.conformance.transfer_plans import CORE, SERVICE
from tests.conformance.transfer_service import drive_service
from tests.conformance.walks import edges_of, states_within

R = frozenset[int]
EVERY_ACTION = set(Model().actions)
INSIDE = {"Admit", "Release", "Finish", "JobDone", "Stop", "Order", "Still", "Resume"}


def test_the_cores_take_every_edge() -> None:
    coverages = [drive_core(config) for config in CORE.values()]
    assert all(coverage.edges == coverage.of > coverage.states for coverage in coverages)
    assert all(coverage.refusals > coverage.states for coverage in coverages)
    assert {name for coverage in coverages for name in coverage.actions} == EVERY_ACTION


def test_the_channel_takes_every_edge_that_a_host_can() -> None:
    taken: set[str] = set()
    for config in SERVICE.values():
        graph, moves = host_moves(config)
        possible = edges_of(moves)
        coverage = drive_service(config)
        assert (coverage.edges, coverage.of) == (len(possible), len(graph.edges))
        assert coverage.refusals > coverage.states
        taken |= set(coverage.actions)
    assert taken == EVERY_ACTION - INSIDE - {"Vanish", "Gone"}  # tests/unit/test_transfer.py


# What the host cannot be in: every rank is ready and the task has not started, or one waits for a rank in vain.
def test_what_a_host_cannot_take_starts_inside_a_critical_section() -> None:
    for config in SERVICE.values():
        graph, moves = host_moves(config)
        possible = edges_of(moves)
        between = states_within(moves)
        assert all(edge[0] in between or edge[0] not in moves for edge in graph.edges if edge not in possible)


# The smallest configuration in which each fault shows.
_ONE = Config(
    ranks=1, mortal=R({0}), leavers=R({0}), silent=R({0}), failing=R({0}), slow=R({0}), frail=R({1}), impatient=R({1})
)
_TWO_TASKS = Config(ranks=1, max_issued=2, capacity=2)
_TWO_RANKS = Config(failing=R({1}))
_PAUSE = Config(max_pauses=1)
_DYING = Config(mortal=R({0}), impatient=R({1}))
PLANS = {
    **dict.fromkeys(("StartsNewest", "ClearsOldest", "AnyOrder", "HandsNewest"), _TWO_TASKS),
    **dict.fromkeys(("StartsAlone", "FirstReportEnds", "OffersToAbsent", "BacksOffAlways"), _TWO_RANKS),
    **dict.fromkeys(("RefusalIsNothing", "ReturnAlways", "LeaveWaits"), _PAUSE),
    "WithdrawsAll": Config(ranks=1, clients=2, max_issued=2, frail=R()),
    "OneTooMany": Config(ranks=1, max_issued=2, capacity=1),
    "LeaveWaits": Config(ranks=1, max_pauses=1, leavers=R({0})),
    "OkWithoutLost": _DYING,
}


@pytest.mark.parametrize("fault", transfer_faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(PLANS.get(fault, _ONE), (transfer_faults.CORE[fault], RankTasks))


@pytest.mark.parametrize("fault", transfer_rank_faults.INSIDE)
def test_a_fault_of_a_rank_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(PLANS.get(fault, _ONE), (Transfer, transfer_rank_faults.INSIDE[fault]))


@pytest.mark.parametrize("fault", transfer_rank_faults.SERVICE)
def test_a_fault_of_the_channel_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = transfer_rank_faults.SERVICE[fault]
    monkeypatch.setattr(TransferChannel, method, change(getattr(TransferChannel, method)))
    plan = SERVICE["2 ranks, late" if "late" in fault else "2 ranks"]
    if "client" in fault:
        plan = Config(inside=False, ranks=1, frail=R({1}))
    with pytest.raises(Deviation):
        drive_service(plan)


@pytest.mark.parametrize("rank", [-1, 2])
@pytest.mark.parametrize("method", ["join", "leave", "fence", "vanish", "reappear", "accept", "refuse"])
def test_a_rank_out_of_range_is_refused(method: str, rank: int) -> None:
    core: Transfer[Any] = Transfer(2)
    with pytest.raises(RankError):
        getattr(core, method)(rank)


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0)])
def test_a_transfer_of_no_size_is_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(ConfigError):
        Transfer[Any](*sizes)
