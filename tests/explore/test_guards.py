"""Each guard is needed: without it the property that the contract names fails, and nothing unexpected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.dispatch import Dispatch, Guards
from models.dispatch_bugs import BUGS
from models.dispatch_liveness import fairness, liveness
from models.explore import explore
from models.graph import build
from models.liveness import leads_to
from tests.explore.claims import fails_as_shortly

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "GuardOwnRead": {"ExactlyOnceInOrder": 5},
    "IdleGetKeepsExist": {"ExistCoherent": 5},
    "ClearLowersExist": {"ExistCoherent": 3},
    "ClearKeepsStarted": {"InStep": 5, "ClearsOnlySeen": 5},
    "ClearOncePerEpoch": {"ClearsOnlySeen": 5},
    "PutsInOrder": {"WaitingInOrder": 3, "ExactlyOnceInOrder": 9},
    "LowerInside": {"ExistCoherent": 6},
    "FenceWithdraws": {"NoGhostCall": 3},
    "FencedCannotRead": {"OnlyMembersRead": 6},
    "JoinSkips": {"JoinSkipsStarted": 8},
}
SAFETY = [name for name, bug in BUGS.items() if not bug.liveness]


@pytest.mark.parametrize("guard", SAFETY)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    bug = BUGS[guard]
    # GuardOwnRead makes the model infinite: a rank may read one batch again and again.
    fails_as_shortly(Dispatch(bug.config), bug.violates, FAILS[guard], 4000)


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Dispatch(config)).violation is None
    graph = build(Dispatch(config))
    for properties in liveness(config).values():
        assert [prop.name for prop in properties if leads_to(graph, prop, fairness(config))] == []


def test_without_fencing_a_put_never_returns() -> None:
    bug = BUGS["FenceFrees"]
    assert explore(Dispatch(bug.config)).ok is False  # nobody is ever lost, so that situation is not reached
    graph = build(Dispatch(bug.config))
    broken = {
        name: [lasso for prop in properties if (lasso := leads_to(graph, prop, fairness(bug.config)))]
        for name, properties in liveness(bug.config).items()
    }
    assert broken["Delivered"] == []
    (lasso,) = broken["PutReturns"]
    for state in lasso.cycle:
        assert "dead" in state.status
        assert state.waiting
