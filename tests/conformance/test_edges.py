"""Every edge of the model's graph through the core and the host's service, and proof that a deviation shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fdcomm.core.dispatch import Dispatch
from fdcomm.errors import RankError
from fdcomm.host.channel import DispatchChannel
from models.dispatch import Config
from models.dispatch import Dispatch as Model
from tests.conformance import faults
from tests.conformance.core_edges import Deviation, drive_core
from tests.conformance.plans import CORE_SMALL, SERVICE
from tests.conformance.service_edges import drive_service, host_graph

EVERY_ACTION = set(Model().actions)


@pytest.mark.parametrize("plan", CORE_SMALL)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE_SMALL[plan])
    assert coverage.edges > coverage.states > 1000
    assert coverage.refusals > coverage.states
    assert {"Crash", "Fence", "ClearRank", "PutLost", "PutTimeout"} <= set(coverage.actions)


def test_the_plans_have_every_action() -> None:
    names = {action.name for config in SERVICE.values() for _, action, _ in host_graph(config).graph.edges}
    assert names == EVERY_ACTION


@pytest.mark.parametrize("plan", SERVICE)
def test_the_service_takes_every_edge_that_a_host_can(plan: str) -> None:
    host = host_graph(SERVICE[plan])
    possible = {edge for moves in host.moves.values() for move in moves for edge in move}
    coverage = drive_service(SERVICE[plan])
    assert coverage.edges == len(possible)
    assert coverage.of == len(host.graph.edges)


@pytest.mark.parametrize("plan", SERVICE)
def test_what_a_host_cannot_take_is_what_its_critical_section_hides(plan: str) -> None:
    """An edge that is left out starts where a call's answer is due, or in a state that only such edges lead to."""
    host = host_graph(SERVICE[plan])
    possible = {edge for moves in host.moves.values() for move in moves for edge in move}
    between = {move[0][2] for moves in host.moves.values() for move in moves if len(move) > 1}
    left_out = [edge for edge in host.graph.edges if edge not in possible]
    assert left_out
    assert all(before in between or before not in host.moves for before, _, _ in left_out)


@pytest.mark.parametrize("fault", faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    plan = Config(ranks=2, per_producer=2, max_calls=2, mortal=frozenset({0}), mortal_producers=frozenset({0}))
    if fault in ("ClearDropsStarted", "JoinTakesAll"):
        plan = replace(plan, depth=2, per_producer=1)
    with pytest.raises(Deviation):
        drive_core(plan, faults.CORE[fault])


@pytest.mark.parametrize("fault", faults.SERVICE)
def test_a_fault_of_the_host_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = faults.SERVICE[fault]
    monkeypatch.setattr(DispatchChannel, method, change(getattr(DispatchChannel, method)))
    config = Config(ranks=1, max_calls=2, mortal=frozenset({0}), leavers=frozenset({0}))
    with pytest.raises(Deviation):
        drive_service(config)


@pytest.mark.parametrize("rank", [-1, 2])
@pytest.mark.parametrize("method", ["join", "leave", "fence", "get_tasks", "clear_rank"])
def test_a_rank_out_of_range_is_refused(method: str, rank: int) -> None:
    core: Dispatch[str] = Dispatch(2)
    with pytest.raises(RankError):
        getattr(core, method)(rank)
