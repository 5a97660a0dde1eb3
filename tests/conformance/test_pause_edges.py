"""Every edge of the pause model through its cores and the host's channel, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.pause import Pause
from fdcomm.errors import ConfigError, RankError
from fdcomm.host.pause_channel import PauseChannel
from models.pause import Config
from models.pause import Pause as Model
from tests.conformance import pause_faults
from tests.conformance.pause_core import Deviation, drive_core
from tests.conformance.pause_moves import host_moves
from tests.conformance.pause_plans import CORE, SERVICE
from tests.conformance.pause_service import drive_service
from tests.conformance.walks import edges_of

R = frozenset[int]
EVERY_ACTION = set(Model().actions)


@pytest.mark.parametrize("plan", CORE)
def test_the_cores_take_every_edge(plan: str) -> None:
    coverage = drive_core(CORE[plan])
    assert coverage.edges > coverage.states > 300
    assert coverage.refusals > coverage.states


def test_the_plans_have_every_action() -> None:
    for plans in (CORE, SERVICE):
        names = {action.name for config in plans.values() for _, action, _ in host_moves(config)[0].edges}
        assert names == EVERY_ACTION


@pytest.mark.parametrize("plan", SERVICE)
def test_the_channel_takes_every_edge_that_a_host_can(plan: str) -> None:
    graph, moves = host_moves(SERVICE[plan])
    possible = edges_of(moves)
    coverage = drive_service(SERVICE[plan])
    assert coverage.edges == len(possible)
    assert coverage.of == len(graph.edges)
    assert coverage.refusals > 1000


# Small configurations in which the faults show; all of them pass without a fault.
PLANS = {
    "crash": Config(ranks=1, mortal=R({0}), impatient=R({1})),
    "two clients": Config(ranks=1, clients=2),
    "modes": Config(ranks=1, max_orders=3, modes=R({0, 1, 2}), impatient=R({1})),
    "two jobs": Config(ranks=1, max_jobs=2, modes=R({0})),
    "two ranks": Config(max_orders=2, modes=R({1, 2}), impatient=R({1})),
}


@pytest.mark.parametrize("plan", PLANS)
def test_without_a_fault_nothing_shows(plan: str) -> None:
    assert drive_core(PLANS[plan]).edges > 50


def _shows(**made: type) -> bool:
    for config in PLANS.values():
        try:
            drive_core(config, **made)
        except Deviation:
            return True
    return False


@pytest.mark.parametrize("fault", pause_faults.CORE)
def test_a_fault_of_the_hosts_core_shows(fault: str) -> None:
    assert _shows(make=pause_faults.CORE[fault])


@pytest.mark.parametrize("fault", pause_faults.GATE)
def test_a_fault_of_the_gate_shows(fault: str) -> None:
    assert _shows(make_gate=pause_faults.GATE[fault])


@pytest.mark.parametrize("fault", pause_faults.CHANNEL)
def test_a_fault_of_the_channel_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = pause_faults.CHANNEL[fault]
    monkeypatch.setattr(PauseChannel, method, change(getattr(PauseChannel, method)))
    with pytest.raises(Deviation):
        drive_service(SERVICE["2 ranks, 1 client"])


@pytest.mark.parametrize("rank", [-1, 2])
@pytest.mark.parametrize("method", ["join", "leave", "fence"])
def test_a_rank_out_of_range_is_refused(method: str, rank: int) -> None:
    with pytest.raises(RankError):
        getattr(Pause(2), method)(rank)


def test_a_group_of_no_size_is_refused() -> None:
    with pytest.raises(ConfigError):
        Pause(0)
