"""Everything that is claimed of the ring holds, and each guard is needed."""

from __future__ import annotations

from typing import Any

import pytest

from models import ring, ring_bias, ring_last, ring_last_state, ring_overflow, ring_place, ring_wait
from models.explore import explore
from models.graph import build
from models.liveness import leads_to
from models.ring_bugs import BIAS, BUGS, LAST, OVERFLOW, PLACE, WAIT
from tests.explore.contract import contract
from tests.verify.configured import configured
from tla import manifest

ENTRIES = {entry.name: entry for entry in manifest.load() if entry.folder == "ring"}
COUNTS: tuple[str, ...] = (
    "MCRing_join",
    "MCRing_clear",
    "MCRing_after_clear",
    "MCRing_wrap",
    "MCRing_weak",
    "MCRing_live",
    "RingWait_small",
    "RingWait_live",
)
COUNTS += ("RingOverflow_small", "RingOverflow_writers", "RingOverflow_live", "RingPlace_small", "RingPlace_live")
COUNTS += ("RingBias_small", "RingBias_deaf", "RingBias_live")
COUNTS += ("RingLast_live", "RingLast_three")
MODELS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "Ring": (ring, ring.Ring, BUGS),
    "RingWait": (ring_wait, ring_wait.RingWait, WAIT),
    "RingOverflow": (ring_overflow, ring_overflow.RingOverflow, OVERFLOW),
    "RingPlace": (ring_place, ring_place.RingPlace, PLACE),
    "RingBias": (ring_bias, ring_bias.RingBias, BIAS),
    "RingLast": (ring_last, ring_last.RingLast, LAST),
}
GUARDS = [(part, name) for part, (_, _, bugs) in MODELS.items() for name in bugs]
# Found only after too many states for every run; TLC finds it in the nightly one.
SLOW = {"FreshBell", "LivesLast"}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    entry = ENTRIES[name]
    model = configured(entry)
    result = explore(model)
    assert result.complete
    assert not result.violations
    assert (result.distinct, result.depth) == (entry.distinct, entry.depth)
    if entry.mode == "live":
        module = {
            "MCRing": ring,
            "RingPlace": ring_place,
            "RingWait": ring_wait,
            "RingOverflow": ring_overflow,
            "RingBias": ring_bias,
            "RingLast": ring_last,
        }[entry.module]
        graph = build(model)
        for prop in module.liveness(model):
            assert leads_to(graph, prop, module.fairness(model)) is None, prop.name


@pytest.mark.parametrize(("part", "guard"), [pair for pair in GUARDS if pair[1] not in SLOW])
def test_without_a_guard_its_property_fails(part: str, guard: str) -> None:
    module, make, bugs = MODELS[part]
    bug = bugs[guard]
    model = make(bug.config)
    if not bug.liveness:
        found = explore(model, only=[bug.violates]).violation
        assert found is not None
        assert len(found.path) + 1 == ENTRIES[_bug(part, guard)].depth
        return
    graph = build(model)
    assert any(leads_to(graph, prop, module.fairness(model)) is not None for prop in module.liveness(model))


def test_what_is_claimed_is_reached() -> None:
    assert explore(ring.Ring(ring.Config(ranks=1, puts=2, clears=1))).unreached == ()
    for config in (ring.Config(), ring.Config(ranks=1, puts=1, joins=1, fenceable=frozenset({0}))):
        assert explore(ring.Ring(config)).unreached in ((), ("a second reader gets a message",))
    assert explore(ring_wait.RingWait()).unreached == ()
    assert explore(ring_place.RingPlace()).unreached == ()
    assert explore(ring_bias.RingBias(ring_bias.Config(tokens=2))).unreached == ()
    assert explore(ring_last.RingLast(ring_last_state.Config())).unreached == ()
    zombie = ring_overflow.Config(fenceable=frozenset({0}))
    assert explore(ring_overflow.RingOverflow(zombie)).unreached == ()


def _bug(part: str, guard: str) -> str:
    return f"{'MCRing' if part == 'Ring' else part}_bug_{guard}"


def test_the_contract_and_the_bugs_agree() -> None:
    guards = {
        (part["name"], guard["constant"]): (guard["violates"], guard["race"])
        for part in contract("ring")["part"]
        for guard in part["guard"]
    }
    assert set(guards) == set(GUARDS)
    for part, name in GUARDS:
        entry = ENTRIES[_bug(part, name)]
        assert (entry.violates, entry.race) == guards[part, name]
        assert entry.violates == MODELS[part][2][name].violates
        assert name in entry.config().switched_off()
