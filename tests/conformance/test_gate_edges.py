"""Every edge of the gate's model through its core and the host's channel, and proof that a deviation shows."""

from __future__ import annotations

import pytest

from fdcomm.core.gate import Gate
from fdcomm.errors import ConfigError, RankError
from fdcomm.host.gate_channel import GateChannel
from models.gate import Config
from models.gate import Gate as Model
from models.graph import build
from tests.conformance import gate_faults
from tests.conformance.gate_core import Deviation, drive_core
from tests.conformance.gate_moves import host_moves
from tests.conformance.gate_plans import CORE, SERVICE
from tests.conformance.gate_service import drive_service
from tests.conformance.walks import edges_of

R = frozenset[int]
EVERY_ACTION = set(Model().actions)


@pytest.mark.parametrize("plan", CORE)
def test_the_core_takes_every_edge(plan: str) -> None:
    coverage = drive_core(CORE[plan])
    assert coverage.edges > coverage.states > 50
    assert coverage.refusals > coverage.states


def test_the_plans_have_every_action() -> None:
    steps = (action for config in CORE.values() for _, action, _ in build(Model(config)).edges)
    assert {action.name for action in steps} == EVERY_ACTION
    names = {action.name for config in SERVICE.values() for _, action, _ in host_moves(config)[0].edges}
    assert names == EVERY_ACTION - {"Vanish"}  # which needs that no handle is open: tests/unit/test_gate_members.py


@pytest.mark.parametrize("plan", SERVICE)
def test_the_service_takes_every_edge_that_a_host_can(plan: str) -> None:
    graph, moves = host_moves(SERVICE[plan])
    possible = edges_of(moves)
    coverage = drive_service(SERVICE[plan])
    assert coverage.edges == len(possible)
    assert coverage.of == len(graph.edges)
    assert coverage.refusals > 100


# The configuration in which each fault shows soonest.
CORE_PLANS = {
    "OwesOnce": Config(keys=1, max_issues=2, max_late=2),
    "HeadOfLine": Config(),
    "NewestFirst": Config(),
    "ForgetsNewest": Config(max_late=1),
    "VanishIsNothing": Config(keys=1, max_issues=1, silent=R({1})),
    "VanishKeepsLate": Config(keys=1, silent=R({1})),
}


_OTHERS = Config(capacity=1, mortal=R({1}))


@pytest.mark.parametrize("fault", gate_faults.CORE)
def test_a_fault_of_the_core_shows(fault: str) -> None:
    with pytest.raises(Deviation):
        drive_core(CORE_PLANS.get(fault, _OTHERS), gate_faults.CORE[fault])


@pytest.mark.parametrize("plan", [_OTHERS, *CORE_PLANS.values()], ids=["others", *CORE_PLANS])
def test_without_a_fault_nothing_shows(plan: Config) -> None:
    assert drive_core(plan).edges > 50


@pytest.mark.parametrize("fault", gate_faults.SERVICE)
def test_a_fault_of_the_channel_shows(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, change = gate_faults.SERVICE[fault]
    monkeypatch.setattr(GateChannel, method, change(getattr(GateChannel, method)))
    with pytest.raises(Deviation):
        drive_service(SERVICE["1 key, everything"])


@pytest.mark.parametrize("rank", [-1, 2])
@pytest.mark.parametrize("method", ["join", "leave", "fence", "vanish", "reappear"])
def test_a_rank_out_of_range_is_refused(method: str, rank: int) -> None:
    with pytest.raises(RankError):
        getattr(Gate[str](2), method)(rank)


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_gate_of_no_size_is_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ConfigError):
        Gate[str](*sizes)
