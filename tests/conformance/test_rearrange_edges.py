"""Every edge of rearrange's model through its core and the host's channel, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.rearrange import Rearrange
from fdcomm.errors import ConfigError, ProtocolViolationError, RankError
from fdcomm.host.rearrange_channel import RearrangeChannel
from models.graph import build
from models.rearrange import Config
from models.rearrange import Rearrange as Model
from tests.conformance import rearrange_faults
from tests.conformance.rearrange_core import Deviation, drive_core
from tests.conformance.rearrange_moves import can
from tests.conformance.rearrange_plans import CORE, SERVICE
from tests.conformance.rearrange_service import drive_service

R = frozenset[int]
EVERY_ACTION = set(Model().actions)


@pytest.mark.parametrize("plan", CORE)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE[plan])
    assert coverage.edges > coverage.states > 100
    assert coverage.refusals > coverage.states


def test_the_plans_have_every_action() -> None:
    assert {action.name for _, action, _ in build(Model(CORE["2 ranks, everything"])).edges} == EVERY_ACTION
    names = {action.name for config in SERVICE.values() for _, action, _ in build(Model(config)).edges}
    assert names == EVERY_ACTION


@pytest.mark.parametrize("plan", SERVICE)
def test_the_service_takes_every_edge_that_a_host_can(plan: str) -> None:
    config = SERVICE[plan]
    graph = build(Model(config))
    coverage = drive_service(config)
    assert coverage.edges == sum(can(config, state, action) for state, action, _ in graph.edges)
    assert coverage.of == len(graph.edges)
    assert coverage.refusals > 100


# The configuration in which each fault shows soonest.
_TWO = Config(ranks=1, movers=R({1}), deaf=R({1}))
_BOTH = Config(peers=0, max_requests=1, movers=R({3}), failing=R({0}))
_COORDINATOR = Config(ranks=1, peers=0, max_requests=1, movers=R({2}))
CORE_PLANS = dict.fromkeys(("AnyReportCounts", "RequestInDone", "SecondRequest", "AddressesNotCounted"), _TWO)
CORE_PLANS |= {"LeavesPlan": _TWO, "CoordinatorNeeded": _COORDINATOR}


@pytest.mark.parametrize("fault", rearrange_faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(CORE_PLANS.get(fault, _BOTH), rearrange_faults.CORE[fault])


@pytest.mark.parametrize("plan", [_TWO, _BOTH, _COORDINATOR], ids=["two requests", "two ranks", "coordinator"])
def test_without_a_fault_nothing_shows(plan: Config) -> None:
    assert drive_core(plan).edges > 20


@pytest.mark.parametrize("fault", rearrange_faults.SERVICE)
def test_a_fault_of_the_channel_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = rearrange_faults.SERVICE[fault]
    monkeypatch.setattr(RearrangeChannel, method, change(getattr(RearrangeChannel, method)))
    with pytest.raises(Deviation):
        drive_service(SERVICE["2 ranks, a worker moves"])


@pytest.mark.parametrize("party", [-1, 5])
@pytest.mark.parametrize("method", ["join", "leave", "fence"])
def test_a_party_out_of_range_is_refused(method: str, party: int) -> None:
    with pytest.raises(RankError):
        getattr(Rearrange(2), method)(party)


def test_a_rank_out_of_range_is_refused() -> None:
    core = Rearrange(2)
    with pytest.raises(RankError):
        core.take_load(2)
    with pytest.raises(RankError):
        core.report_ok(-1, 1)
    with pytest.raises(RankError):
        core.arrive(2)
    assert not core.withdraw(2)
    with pytest.raises(ProtocolViolationError):
        core.updated(1, 1)


def test_outcomes_are_kept_for_a_while() -> None:
    core = Rearrange(1, kept=2)
    for _ in range(4):
        core.request(())
        core.end_timeout()
    assert sorted(core.outcomes) == [3, 4]


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0)])
def test_a_core_of_no_size_is_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(ConfigError):
        Rearrange(*sizes)
